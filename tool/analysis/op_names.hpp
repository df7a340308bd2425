// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what an operation is called.
// Invariant: every known one has a name of its own.
// Must not know: who shows it.
#pragma once

#include <string>

#include "trace/event.hpp"

namespace gr::analysis {

inline std::string op_name(trace::Op op) {
    using trace::Op;
    switch (op) {
        case Op::kMalloc:
            return "malloc";
        case Op::kCalloc:
            return "calloc";
        case Op::kRealloc:
            return "realloc";
        case Op::kAlignedAlloc:
            return "aligned";
        case Op::kNew:
            return "new";
        case Op::kNewArray:
            return "new[]";
        case Op::kFree:
            return "free";
        case Op::kReallocFree:
            return "realloc's free";
        case Op::kDelete:
            return "delete";
        case Op::kDeleteArray:
            return "delete[]";
        case Op::kMap:
            return "mmap";
        case Op::kUnmap:
            return "munmap";
        case Op::kAdvise:
            return "madvise";
        case Op::kBreak:
            return "sbrk";
    }
    return "unknown";
}

}  // namespace gr::analysis
