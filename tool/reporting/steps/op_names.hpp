// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what an operation is called.
// Invariant: every known one has a name of its own.
// Must not know: who shows it.
#pragma once

#include <string>

#include "reading/trace/event.hpp"

namespace gr::tool {

inline std::string op_name(trace::Op op) {
    using trace::Op;
    switch (op) {
        case Op::malloc:
            return "malloc";
        case Op::calloc:
            return "calloc";
        case Op::realloc:
            return "realloc";
        case Op::aligned_alloc:
            return "aligned";
        case Op::operator_new:
            return "new";
        case Op::operator_new_array:
            return "new[]";
        case Op::free:
            return "free";
        case Op::realloc_free:
            return "realloc's free";
        case Op::operator_delete:
            return "delete";
        case Op::operator_delete_array:
            return "delete[]";
        case Op::map:
            return "mmap";
        case Op::unmap:
            return "munmap";
        case Op::advise:
            return "madvise";
        case Op::brk:
            return "sbrk";
    }
    return "unknown";
}

}  // namespace gr::tool
