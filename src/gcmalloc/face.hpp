// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the layer between the program's calls and malloc's own family.
// Invariant: without a mode the layer adds nothing. It leaves errno as it was, unless there is no memory. It never calls
//    the program's malloc.
// Must not know: the names that programs call.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "gcmalloc/loaded_modules.hpp"
#include "gcmalloc/quarantine.hpp"
#include "gcmalloc/under.hpp"

namespace gr {

// plain: the layer adds nothing, because it is too early or the collector could not start.
enum class Mode : std::uint8_t { unknown, plain, collect, leaks, quarantine };

class Face {
  public:
    constexpr Face() = default;

    // Called in the first constructor and in the last destructor. If the layer cannot begin, it says so in one line and
    // stays plain.
    void begin();
    void end();

    Mode mode() const { return mode_; }

    // Serves each function that allocates. Calls ask() again if there was no memory and a collection has freed some.
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
        // Until here a register or the stack holds the block, so a collection that stops this thread does not free it.
        asm volatile("" : : "r"(p));
    }
    // What malloc's own family is asked for instead of `size`. Where only the collector knows which blocks are in use, a
    // block is a byte longer, so that a pointer to its end points into it. A size that is always refused stays so.
    std::size_t padded(std::size_t size) const { return size == SIZE_MAX ? size : size + padding_; }
    // Whether free, and realloc of a block that had to move, free the block at once.
    bool frees() const { return frees_; }
    // Ends the process with one line if the block waits in the quarantine.
    void require_in_use(const char *function, const void *p) const;

    // Called before and after libc's dlclose.
    void list_code(LoadedModules *before) const;
    void forget_code(const LoadedModules &before);
    // Called by the signal's handler. Reports leaks now, or as soon as the interrupted thread has left the heap.
    void report_on_signal();

  private:
    bool look();
    bool begin_collecting();
    void collect_if_due();
    void empty_quarantine();
    // Called when there was no memory. true: there may be memory now.
    bool give_way();
    void note(const void *p);
    bool report(const char *stack_pointer = nullptr);

    Mode mode_ = Mode::unknown;
    const char *failure_ =
        nullptr;  // why leaks are not looked for, although they are wanted; told in a report at the end
    bool frees_ = true;
    std::uint8_t padding_ = 0;                // bytes
    std::atomic<bool> report_is_due_{false};  // ordered by nothing
};

extern Face face;

}  // namespace gr
