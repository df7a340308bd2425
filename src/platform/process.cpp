// SPDX-License-Identifier: Apache-2.0 OR MIT
// Uses only raw system calls, the auxiliary vector, environ and abort().
#include "platform/process.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sysinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>

#include "base/check.hpp"
#include "base/text.hpp"
#include "platform/file.hpp"
#include "platform/memory.hpp"
#include "platform/syscall.hpp"

extern "C" {
extern char **environ [[gnu::weak]];  // NOLINT(readability-redundant-declaration): weak
extern const char *gr_options [[gnu::weak]];
}

namespace gr::platform {
namespace {

constexpr std::size_t kAffinityBytes = 8192;
constexpr int kStandardError = 2;

struct Affinity {
    alignas(8) unsigned char mask[kAffinityBytes];
    long bytes;
    Affinity() : bytes(system_call(SYS_sched_getaffinity, 0, sizeof mask, &mask[0])) {}
};

// Holds its own address once relative relocations have been applied; until then the address it was linked at, or zero.
[[gnu::used]] const volatile void *const volatile relocated = &relocated;

// The text behind the first occurrence of `words`, or nullptr.
const char *behind(const char *text, const char *words) {
    for (; *text != '\0'; ++text) {
        std::size_t i = 0;
        while (words[i] != '\0' && text[i] == words[i]) ++i;
        if (words[i] == '\0') return text + i;
    }
    return nullptr;
}

// The number behind `words`; 0 if there is none.
std::size_t number_behind(const char *text, const char *words) {
    const char *digits = behind(text, words);
    std::size_t number = 0;
    while (digits != nullptr && *digits == ' ') ++digits;
    for (; digits != nullptr && *digits >= '0' && *digits <= '9'; ++digits) {
        number = number * 10 + static_cast<std::size_t>(*digits - '0');
    }
    return number;
}

std::size_t limit_of(decltype(RLIMIT_AS) resource, rlim_t rlimit::*which) {
    struct rlimit limit {};
    if (system_call(SYS_prlimit64, 0, resource, nullptr, &limit) != 0) return SIZE_MAX;
    return limit.*which == RLIM_INFINITY ? SIZE_MAX : limit.*which;
}

}  // namespace

bool is_secure() { return getauxval(AT_SECURE) != 0; }

const char *const *environment() { return &environ == nullptr ? nullptr : environ; }

// Until the loader has relocated a program that may lie anywhere, gr_options is null or holds an offset, not an
// address.
const char *program_options() {
    constexpr std::uintptr_t kOffsets = 4 * kGiB;
    if (&gr_options == nullptr) return nullptr;
    const bool is_offset = reinterpret_cast<std::uintptr_t>(gr_options) < kOffsets;
    return is_offset && reinterpret_cast<std::uintptr_t>(&gr_options) >= kOffsets ? nullptr : gr_options;
}

const char *variable(const char *name) {
    const char *const *entry = is_secure() ? nullptr : environment();
    for (; entry != nullptr && *entry != nullptr; ++entry) {
        std::size_t i = 0;
        while (name[i] != '\0' && (*entry)[i] == name[i]) ++i;
        if (name[i] == '\0' && (*entry)[i] == '=') return *entry + i + 1;
    }
    return nullptr;
}

unsigned process_id() { return static_cast<unsigned>(system_call(SYS_getpid)); }
bool is_first_thread() { return system_call(SYS_gettid) == system_call(SYS_getpid); }

void command_line(char *text, std::size_t size) {
    std::size_t length = read_file("/proc/self/cmdline", text, size);
    while (length != 0 && text[length - 1] == '\0') --length;
    for (std::size_t i = 0; i < length; ++i) {
        if (text[i] == '\0') text[i] = ' ';
    }
    constexpr std::size_t kNameBytes = 16;  // of the kernel's name
    if (length == 0 && size >= kNameBytes) system_call(SYS_prctl, PR_GET_NAME, text, 0, 0, 0);
}

std::size_t physical_memory_bytes() {
    struct sysinfo info {};
    if (system_call(SYS_sysinfo, &info) != 0) return kGiB;
    return static_cast<std::size_t>(info.totalram) * info.mem_unit;
}

std::size_t resident_bytes() {
    char text[64];  // "<pages of address space> <resident pages> ..."
    read_file("/proc/self/statm", &text[0], sizeof text);
    return number_behind(&text[0], " ") * page_size();
}

std::size_t huge_page_bytes() {
    char text[2 * kKiB];  // a line of kibibytes each, as "AnonHugePages:   2048 kB"
    read_file("/proc/self/smaps_rollup", &text[0], sizeof text);
    return number_behind(&text[0], "\nAnonHugePages:") * kKiB;
}

HugePagesFor huge_pages_for() {
    char text[64];  // "always [madvise] never"
    read_file("/sys/kernel/mm/transparent_hugepage/enabled", &text[0], sizeof text);
    if (behind(&text[0], "[always]") != nullptr) return HugePagesFor::everybody;
    return behind(&text[0], "[madvise]") != nullptr ? HugePagesFor::who_asks : HugePagesFor::nobody;
}

bool read_own(std::uintptr_t address, void *to, std::size_t bytes) {
    const long file = open_file("/proc/self/mem");
    if (file < 0) return false;
    const long read = system_call(SYS_pread64, file, to, bytes, address);
    close_file(file);
    return read == static_cast<long>(bytes);
}

// The kernel reads the set of signals before it refuses the operation, which no kernel knows.
bool is_readable(std::uintptr_t address) {
    constexpr int kNoOperation = ~0;
    constexpr std::size_t kSetBytes = 8;
    return system_call(SYS_rt_sigprocmask, kNoOperation, address, nullptr, kSetBytes) == -EINVAL;
}

std::size_t address_space_limit() { return limit_of(RLIMIT_AS, &rlimit::rlim_cur); }
std::size_t highest_address_space_limit() { return limit_of(RLIMIT_AS, &rlimit::rlim_max); }
std::size_t data_limit() { return limit_of(RLIMIT_DATA, &rlimit::rlim_cur); }

unsigned cpu_bound() {
    const Affinity affinity;
    const unsigned bits = affinity.bytes <= 0 ? 0 : static_cast<unsigned>(affinity.bytes) * 8;
    const unsigned possible = possible_cpus("/sys/devices/system/cpu/possible");
    return possible != 0 && possible < bits ? possible : bits;
}

unsigned possible_cpus(const char *path) {
    const long file = open_file(path);
    struct statfs system {};
    const bool is_of_kernel = system_call(SYS_fstatfs, file, &system) == 0 && system.f_type == SYSFS_MAGIC;
    char text[256];  // ranges in ascending order, as "0-3,8-11"
    read_and_close(file, &text[0], sizeof text);
    const char *last = &text[0];
    bool any = false;
    for (const char *at = &text[0]; *at != '\0'; ++at) {
        any = any || (*at >= '0' && *at <= '9');
        if (*at == '-' || *at == ',') last = at + 1;
    }
    return is_of_kernel && any ? static_cast<unsigned>(number_behind(last, "")) + 1 : 0;
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

bool KeptStderr::keep() {
    if (is_kept_) return true;
    constexpr int kOutOfTheWay = 100;
    const long fd = system_call(SYS_fcntl, kStandardError, F_DUPFD_CLOEXEC, kOutOfTheWay);
    duplicate_ = fd < 0 ? kStandardError : static_cast<int>(fd);
    is_kept_ = identify(kStandardError, &file_);
    return is_kept_;
}

void KeptStderr::write_all(const char *text, std::size_t size) const {
    for (const int fd : {duplicate_, kStandardError}) {
        File now{};
        if (!is_kept_ || !identify(fd, &now) || now.device != file_.device || now.number != file_.number) continue;
        platform::write_all(fd, text, size);
        return;
    }
}

bool KeptStderr::identify(int fd, File *file) {
    struct stat status {};
    if (system_call(SYS_fstat, fd, &status) != 0) return false;
    *file = {.device = status.st_dev, .number = status.st_ino};
    return true;
}

void exit(int code) {
    for (;;) system_call(SYS_exit_group, code);
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
