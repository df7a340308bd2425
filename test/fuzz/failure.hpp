// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the first thing that went wrong in a run, as one line.
// Invariant: only the first is kept; it lies in shared memory, so a forked child's failure reaches its parent.
// Must not know: what is checked.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace gr::fuzz {

class Failure {
  public:
    Failure() {
        void *page = mmap(nullptr, sizeof(Text), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) {
            std::perror("fuzz: cannot map a page for failures; free some memory");
            std::abort();
        }
        text_ = new (page) Text;
    }
    ~Failure() { munmap(text_, sizeof(Text)); }
    Failure(const Failure &) = delete;
    Failure &operator=(const Failure &) = delete;

    bool any() const { return text_->taken.load(std::memory_order_acquire); }
    const char *line() const { return text_->line; }

    // The processes that write one after another do so between fork and wait, so the flag suffices.
    [[gnu::format(printf, 2, 3)]] void set(const char *format, ...) {
        if (any()) return;
        va_list arguments;
        va_start(arguments, format);
        std::vsnprintf(text_->line, sizeof text_->line, format, arguments);
        va_end(arguments);
        text_->taken.store(true, std::memory_order_release);  // pairs with any()
    }

  private:
    struct Text {
        std::atomic<bool> taken{false};
        char line[1024] = "";
    };
    Text *text_;
};

}  // namespace gr::fuzz
