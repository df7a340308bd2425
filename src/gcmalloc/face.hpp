// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what stands between the program's calls and malloc's own family.
// Invariant: without a mode nothing is added. errno is left as it was found, but where there is no memory. Nothing of
//    it calls the program's malloc.
// Must not know: the names that programs call.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "gcmalloc/quarantine.hpp"
#include "gcmalloc/under.hpp"

namespace gr {

// plain: nothing is added, because it is too early, or the collector could not start.
enum class Mode : std::uint8_t { unknown, plain, collect, leaks, quarantine };

class Face {
  public:
    constexpr Face() = default;

    // In the first constructor, and in the last destructor. Where it cannot begin it says so in one line, and is plain.
    void begin();
    void end();

    Mode mode() const { return mode_; }

    // Whatever allocates. ask() is asked again if there was no memory but a collection freed some.
    template <class Ask>
    void *serve(Ask ask) {
        if (mode_ == Mode::unknown && !look()) [[unlikely]]
            return ask();
        const int before = errno;
        if (mode_ == Mode::collect) collect_if_due();
        if (mode_ == Mode::quarantine && process_quarantine.is_due()) [[unlikely]]
            empty_quarantine();
        void *p = ask();
        if (p == nullptr && give_way()) p = ask();
        if (p == nullptr) return nullptr;
        if (mode_ == Mode::leaks) note(p);
        errno = before;
        return p;
    }
    void release(void *p) {
        if (mode_ == Mode::quarantine) {
            if (p != nullptr) process_quarantine.take(p);
            return;
        }
        if (!frees_) return;
        gr_under_free(p);
        // Until then a register or the stack has it: a collection that stops this thread must not free it before.
        asm volatile("" : : "r"(p));
    }
    // Whether what free gets, and a block that had to move, goes back at once.
    bool frees() const { return frees_; }
    // Dies of a block that waits in the quarantine.
    void require_in_use(const char *function, const void *p) const;

    // A library was unloaded.
    void forget_code();
    // Leaks are wanted now, or as soon as whom a handler interrupted has let go of the heap.
    void report_on_signal();

  private:
    enum class Wanted : std::uint8_t { always, where_there_are_leaks };

    bool look();
    bool begin_collecting();
    void collect_if_due();
    void empty_quarantine();
    // There was no memory. true: there may be now.
    bool give_way();
    void note(const void *p);
    bool report(Wanted wanted, const char *stack_pointer = nullptr);

    Mode mode_ = Mode::unknown;
    bool frees_ = true;
    std::atomic<bool> report_is_due_{false};  // ordered by nothing
};

extern Face face;

}  // namespace gr
