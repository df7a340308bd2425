// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the process asks of the kernel by libc's functions: mappings, advice, the program's break. What the
//    allocator asks is recorded apart from what the program and its libraries ask.
// Invariant: each does what libc's does, and sets errno as that. Requests of an allocator that is libc's, or that makes
//    its system calls itself, are not seen.
// Must not know: how calls are recorded.
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "granary/granary.h"
#include "platform/syscall.hpp"
#include "recorder/calls.hpp"

// libc's own name of sbrk, which needs no loader to find.
extern "C" void *__sbrk(std::intptr_t bytes) noexcept;  // NOLINT(bugprone-reserved-identifier)

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

// What is written of a call that did what it was asked, and whose request it was.
class Told {
  public:
    Told(gr::Call *call, bool is_own, std::uint64_t before)
        : call_(*call), is_own_(is_own), before_(before), now_(gr::recording.now()) {}

    bool is_own() const { return is_own_; }
    void map(const void *p, std::uint64_t bytes, std::uint64_t how) {
        if (!is_own_) return group_.add(gr::record_of(Kind::map, p, bytes, now_));
        add_own(Kind::own_map, p, gr::size_and(how, bytes), now_);
    }
    void unmap(const void *p, std::uint64_t bytes) {
        group_.add(gr::record_of(is_own_ ? Kind::own_unmap : Kind::unmap, p, gr::size_and(0, bytes), before_));
    }
    void advise(const void *p, std::uint64_t bytes, std::uint64_t advice) {
        const std::uint64_t size = gr::size_and(advice, bytes);
        if (!is_own_) return group_.add(gr::record_of(Kind::advise, p, size, before_));
        add_own(Kind::own_advise, p, size, before_);
    }
    void move_break(const void *old, std::intptr_t bytes) {
        const auto size = static_cast<std::uint64_t>(bytes);
        if (!is_own_) return group_.add(gr::record_of(Kind::program_break, old, size, now_));
        add_own(Kind::own_break, old, size, now_);
    }
    const gr::Group &group() const { return group_; }

  private:
    // A call has one of these at most, so that the group holds the stack.
    void add_own(Kind kind, const void *p, std::uint64_t size, std::uint64_t time) {
        call_.add_stack(&group_, now_);
        group_.add(gr::record_of(kind, p, size, time));
    }

    gr::Call &call_;
    bool is_own_;
    std::uint64_t before_;
    std::uint64_t now_;
    gr::Group group_;
};

template <class Ask, class Tell>
[[gnu::always_inline]] inline auto recorded(Ask ask, Tell tell) {
    const void *const caller = __builtin_return_address(0);
    if (!gr::next.is_known()) return ask();
    gr::Call call(nullptr);
    const std::uint64_t before = call.is_recorded() ? gr::recording.now() : 0;
    const auto result = ask();
    if (call.is_recorded()) {
        Told told(&call, !gr::next.calls_from(caller), before);
        tell(&told, result);
        if (!told.group().records().empty()) call.write(told.group());
    }
    return result;
}

void *mapped(void *address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
    return or_failed(gr::platform::system_call(SYS_mmap, address, bytes, protection, flags, fd, offset));
}

std::uint64_t how_mapped(int protection, int flags) {
    const bool is_shared = (flags & MAP_SHARED) != 0;  // MAP_SHARED_VALIDATE has its bit, too
    return (is_shared ? GR_RECORD_MAP_SHARED : 0) | ((flags & MAP_ANONYMOUS) == 0 ? GR_RECORD_MAP_FILE : 0) |
           (protection == PROT_NONE ? GR_RECORD_MAP_RESERVE : 0);
}

// Of the program's own advice what drops pages; of the allocator's all.
bool drops_pages(int advice) { return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE; }

}  // namespace

extern "C" {

GR_EXPORT void *mmap(void *address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
    return recorded([=] { return mapped(address, bytes, protection, flags, fd, offset); },
                    [=](Told *told, void *p) {
                        if (p != MAP_FAILED || !told->is_own())
                            told->map(p == MAP_FAILED ? nullptr : p, bytes, how_mapped(protection, flags));
                    });
}
[[gnu::alias("mmap")]] GR_EXPORT void *mmap64(void *address, std::size_t bytes, int protection, int flags, int fd,
                                              off64_t offset);

GR_EXPORT int munmap(void *address, std::size_t bytes) {
    return recorded([=] { return static_cast<int>(or_errno(gr::platform::system_call(SYS_munmap, address, bytes))); },
                    [=](Told *told, int result) {
                        if (result == 0) told->unmap(address, bytes);
                    });
}

GR_EXPORT void *mremap(void *address, std::size_t bytes, std::size_t new_bytes, int flags, ...) {
    va_list more;
    va_start(more, flags);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it begins a line above
    void *const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void *) : nullptr;
    va_end(more);
    return recorded(
        [=] { return or_failed(gr::platform::system_call(SYS_mremap, address, bytes, new_bytes, flags, wanted)); },
        [=](Told *told, void *p) {
            if (p == MAP_FAILED) return;
            told->unmap(address, bytes);
            told->map(p, new_bytes, 0);
        });
}

GR_EXPORT int madvise(void *address, std::size_t bytes, int advice) noexcept {
    return recorded(
        [=] { return static_cast<int>(or_errno(gr::platform::system_call(SYS_madvise, address, bytes, advice))); },
        [=](Told *told, int result) {
            if (result == 0 && (drops_pages(advice) || !told->is_own()))
                told->advise(address, bytes, static_cast<std::uint64_t>(advice));
        });
}

GR_EXPORT void *sbrk(std::intptr_t bytes) noexcept {
    return recorded([=] { return gr::next.is_known() ? gr::next.sbrk(bytes) : __sbrk(bytes); },
                    [=](Told *told, void *end) {
                        if (end != MAP_FAILED && bytes != 0) told->move_break(end, bytes);
                    });
}

GR_EXPORT int brk(void *end) noexcept {
    void *const before = gr::next.is_known() ? gr::next.sbrk(0) : __sbrk(0);
    const std::intptr_t grows_by = static_cast<const char *>(end) - static_cast<const char *>(before);
    return recorded([=] { return gr::next.is_known()              ? gr::next.brk(end)
                                 : __sbrk(grows_by) == MAP_FAILED ? -1
                                                                  : 0; },
                    [=](Told *told, int result) {
                        if (result == 0 && grows_by != 0) told->move_break(before, grows_by);
                    });
}

}  // extern "C"
