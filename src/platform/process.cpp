// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: process.hpp on Linux.
// Invariant: raw system calls and the auxiliary vector only.
// Must not know: what the allocator does with the facts.
#include "platform/process.hpp"

#include <fcntl.h>
#include <linux/sysinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>

#include "base/check.hpp"
#include "base/text.hpp"
#include "platform/memory.hpp"
#include "platform/syscall.hpp"

extern "C" char **environ [[gnu::weak]];

namespace gr::platform {
namespace {

constexpr std::size_t kAffinityBytes = 8192;
constexpr int kStandardError = 2;

struct Affinity {
    alignas(8) unsigned char mask[kAffinityBytes];
    long bytes;
    Affinity() : bytes(system_call(SYS_sched_getaffinity, 0, sizeof mask, &mask[0])) {}
};

// Its own address once relative relocations have been applied; until then the address it was linked at, or zero.
[[gnu::used]] const volatile void *const volatile relocated = &relocated;

}  // namespace

bool is_secure() { return getauxval(AT_SECURE) != 0; }

const char *const *environment() { return &environ == nullptr ? nullptr : environ; }

std::size_t physical_memory_bytes() {
    struct sysinfo info {};
    if (system_call(SYS_sysinfo, &info) != 0) return kGiB;
    return static_cast<std::size_t>(info.totalram) * info.mem_unit;
}

std::size_t resident_bytes() {
    const long fd = system_call(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    char text[64];  // "<pages of address space> <resident pages> ..."
    const long length = system_call(SYS_read, fd, &text[0], sizeof text);
    system_call(SYS_close, fd);
    long i = 0;
    while (i < length && text[i] != ' ') ++i;
    std::size_t pages = 0;
    for (++i; i < length && text[i] >= '0' && text[i] <= '9'; ++i) {
        pages = pages * 10 + static_cast<std::size_t>(text[i] - '0');
    }
    return pages * page_size();
}

std::size_t address_space_limit() {
    struct rlimit limit {};
    if (system_call(SYS_prlimit64, 0, RLIMIT_AS, nullptr, &limit) != 0) return SIZE_MAX;
    return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : limit.rlim_cur;
}

unsigned cpu_bound() {
    const Affinity affinity;
    return affinity.bytes <= 0 ? 0 : static_cast<unsigned>(affinity.bytes) * 8;
}

unsigned usable_cpus() {
    const Affinity affinity;
    unsigned count = 0;
    for (long i = 0; i < affinity.bytes; ++i) count += static_cast<unsigned>(std::popcount(affinity.mask[i]));
    return count == 0 ? 1 : count;
}

bool is_relocated() { return relocated == &relocated; }

long write_all(int fd, const char *text, std::size_t size) {
    while (size != 0) {
        const long written = system_call(SYS_write, fd, text, size);
        if (written == -EINTR) continue;
        if (written < 0) return written;
        text += written;
        size -= static_cast<std::size_t>(written);
    }
    return 0;
}

int duplicate_stderr() {
    constexpr int kOutOfTheWay = 100;
    const long fd = system_call(SYS_fcntl, kStandardError, F_DUPFD_CLOEXEC, kOutOfTheWay);
    return fd < 0 ? kStandardError : static_cast<int>(fd);
}

void fatal(const char *text, std::size_t size) {
    write_all(kStandardError, text, size);
    abort();
}

}  // namespace gr::platform

void gr::check_failed(const char *condition, const char *file, unsigned line) {
    TextBuffer<512> text;
    text << "granary: internal check failed: " << condition << " at " << file << ':' << line << "; please report it\n";
    platform::fatal(text.data(), text.size());
}
