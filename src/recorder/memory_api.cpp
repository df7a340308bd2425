// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the allocator asks of the kernel by libc's functions: mappings, advice, the program's break.
// Invariant: each does what libc's does, and sets errno as that. The program's own mappings are not recorded, nor those
//    of an allocator that is libc's or makes its system calls itself.
// Must not know: how calls are recorded.
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "granary/granary.h"
#include "platform/syscall.hpp"
#include "recorder/calls.hpp"

namespace {

using gr::Kind;

// As libc's return a result of the kernel's.
long or_errno(long result) {
    constexpr long kMostErrors = 4095;
    if (result >= 0 || result < -kMostErrors) return result;
    errno = static_cast<int>(-result);
    return -1;
}
void *or_failed(long result) { return reinterpret_cast<void *>(or_errno(result)); }

// What is written of a call that did what it was asked: one record, or of mremap two.
template <class Ask, class Tell>
[[gnu::always_inline]] inline auto recorded(Ask ask, Tell tell) {
    const void *const caller = __builtin_return_address(0);
    if (!gr::next.is_found() || !gr::next.calls_from(caller)) return ask();
    gr::Call call(nullptr);
    const std::uint64_t before = call.is_recorded() ? gr::recording.now() : 0;
    const auto result = ask();
    if (call.is_recorded()) {
        gr::Group group;
        tell(&group, result, before, gr::recording.now());
        call.write(group);
    }
    return result;
}

void *mapped(void *address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
    return or_failed(gr::platform::system_call(SYS_mmap, address, bytes, protection, flags, fd, offset));
}

}  // namespace

extern "C" {

GR_EXPORT void *mmap(void *address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
    return recorded([=] { return mapped(address, bytes, protection, flags, fd, offset); },
                    [=](gr::Group *group, void *p, std::uint64_t, std::uint64_t now) {
                        group->add(gr::record_of(Kind::map, p == MAP_FAILED ? nullptr : p, bytes, now));
                    });
}
[[gnu::alias("mmap")]] GR_EXPORT void *mmap64(void *address, std::size_t bytes, int protection, int flags, int fd,
                                              off64_t offset);

GR_EXPORT int munmap(void *address, std::size_t bytes) {
    return recorded([=] { return static_cast<int>(or_errno(gr::platform::system_call(SYS_munmap, address, bytes))); },
                    [=](gr::Group *group, int result, std::uint64_t before, std::uint64_t) {
                        if (result == 0) group->add(gr::record_of(Kind::unmap, address, bytes, before));
                    });
}

GR_EXPORT void *mremap(void *address, std::size_t bytes, std::size_t new_bytes, int flags, ...) {
    va_list more;
    va_start(more, flags);
    void *const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void *) : nullptr;
    va_end(more);
    return recorded(
        [=] { return or_failed(gr::platform::system_call(SYS_mremap, address, bytes, new_bytes, flags, wanted)); },
        [=](gr::Group *group, void *p, std::uint64_t before, std::uint64_t now) {
            if (p == MAP_FAILED) return;
            group->add(gr::record_of(Kind::unmap, address, bytes, before));
            group->add(gr::record_of(Kind::map, p, new_bytes, now));
        });
}

GR_EXPORT int madvise(void *address, std::size_t bytes, int advice) noexcept {
    return recorded(
        [=] { return static_cast<int>(or_errno(gr::platform::system_call(SYS_madvise, address, bytes, advice))); },
        [=](gr::Group *group, int result, std::uint64_t before, std::uint64_t) {
            const std::uint64_t size = gr::size_and(static_cast<std::uint64_t>(advice), bytes);
            if (result == 0) group->add(gr::record_of(Kind::advise, address, size, before));
        });
}

GR_EXPORT void *sbrk(std::intptr_t bytes) noexcept {
    return recorded([=] { return gr::next.is_found() ? gr::next.sbrk(bytes) : or_failed(-ENOMEM); },
                    [=](gr::Group *group, void *end, std::uint64_t, std::uint64_t now) {
                        if (end == MAP_FAILED || bytes == 0) return;
                        group->add(gr::record_of(Kind::program_break, end, static_cast<std::uint64_t>(bytes), now));
                    });
}

}  // extern "C"
