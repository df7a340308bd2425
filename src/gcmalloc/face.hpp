// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what stands between the program's calls and malloc's own family.
// Invariant: without a mode nothing is added. errno is left as it was found, but where there is no memory. Nothing of it
//            calls the program's malloc.
// Must not know: the names that programs call.
#pragma once

#include <cerrno>
#include <cstdint>

#include "gcmalloc/under.hpp"

namespace gr {

// plain: nothing is added, because it is too early, or the collector could not start.
enum class Mode : std::uint8_t { plain, collect };

class Face {
  public:
    constexpr Face() = default;

    // In the first constructor. Says so in one line where it cannot, and stays plain.
    void begin();

    Mode mode() const { return mode_; }

    // Whatever allocates. ask() is asked again if there was no memory but a collection freed some.
    template <class Ask>
    void *serve(Ask ask) {
        if (mode_ == Mode::plain) [[unlikely]]
            return ask();
        const int before = errno;
        collect_if_due();
        void *p = ask();
        if (p == nullptr && collect()) p = ask();
        if (p != nullptr) errno = before;
        return p;
    }
    void release(void *p) {
        if (!frees_) return;
        gr_under_free(p);
        // Until then a register or the stack has it: a collection that stops this thread must not free it before.
        asm volatile("" : : "r"(p));
    }
    // Whether what free gets, and a block that had to move, goes back at once.
    bool frees() const { return frees_; }

  private:
    void collect_if_due();
    bool collect();

    Mode mode_ = Mode::plain;
    bool frees_ = true;
};

extern Face face;

}  // namespace gr
