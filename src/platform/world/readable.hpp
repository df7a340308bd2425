// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds the pages of a range that can be read, whatever the list of mappings says: a mapping may contain guards
//    (MADV_GUARD_INSTALL), as libc has below stacks since 2.42.
// Invariant: the kernel reads a word of each page before any other code does; nothing is changed.
// Must not know: what lies there.
#pragma once

#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

#include "base/bits.hpp"
#include "platform/memory.hpp"
#include "platform/syscall.hpp"
#include "platform/world/range.hpp"

namespace gr::platform {

// Asks the kernel to set the signal mask to what lies there, in a way that does not exist. The kernel reads the mask
// before it refuses. No descriptor is needed. If a sandbox forbids the call, all pages count as readable.
inline bool is_readable(const char *word) {
    constexpr int kNoWay = -1;
    return system_call(SYS_rt_sigprocmask, kNoWay, word, nullptr, sizeof(std::uint64_t)) != -EFAULT;
}

// Calls visit(row) for each row of readable pages, as far as they lie in the range. The range begins at a multiple of a
// word.
template <class Visit>
void for_each_readable(Range whole, Visit visit) {
    const std::size_t page = page_size();
    Range row{whole.begin, whole.begin};
    for (const char *at = whole.begin; at < whole.end;) {
        const auto page_end = align_down(reinterpret_cast<std::uintptr_t>(at), page) + page;
        const char *next = reinterpret_cast<const char *>(page_end);
        if (next > whole.end) next = whole.end;
        if (is_readable(at)) {
            row.end = next;
        } else {
            if (!row.is_empty()) visit(row);
            row = {next, next};
        }
        at = next;
    }
    if (!row.is_empty()) visit(row);
}

}  // namespace gr::platform
