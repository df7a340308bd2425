// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/attach/safe_place.hpp"

#include <fmt/format.h>
#include <granary/wire/recording.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

namespace gr::tool {

namespace {

// Neither the loader nor an allocator makes these calls, or not with a lock of its own. The kernel begins a call with a limit
// of time again as restart_syscall.
constexpr long kHarmless[] = {
    SYS_ppoll,      SYS_pselect6, SYS_epoll_pwait, SYS_epoll_pwait2,    SYS_accept,          SYS_accept4,
    SYS_connect,    SYS_recvfrom, SYS_recvmsg,     SYS_recvmmsg,        SYS_sendto,          SYS_sendmsg,
    SYS_sendmmsg,   SYS_wait4,    SYS_waitid,      SYS_rt_sigsuspend,   SYS_rt_sigtimedwait, SYS_semop,
    SYS_semtimedop, SYS_msgrcv,   SYS_msgsnd,      SYS_io_getevents,    SYS_io_uring_enter,  SYS_fsync,
    SYS_fdatasync,  SYS_pwrite64, SYS_flock,       SYS_mq_timedreceive, SYS_epoll_ctl,       SYS_restart_syscall};

// These may read or write a file of the loader's.
constexpr long kTalk[] = {SYS_read, SYS_readv, SYS_write, SYS_writev};

bool is_in(const std::vector<const ProcessModule *> &modules, const ProcessModule *module) {
    return std::ranges::find(modules, module) != modules.end();
}

bool is_one_of(long call, std::span<const long> calls) { return std::ranges::find(calls, call) != calls.end(); }

// Between a context that a signal saved and the place that it interrupted nothing else fits.
constexpr std::uint64_t kFlagsAt = 8;
constexpr std::uint64_t kLinkAt = 16;
constexpr std::uint64_t kMostFlags = 0xff;

constexpr std::uint64_t kMostKernelBytes = 64 << 10;

}  // namespace

bool is_loader(const ProcessModule &module) {
    return module.name.starts_with("ld-linux") || module.name.starts_with("ld-2.") || module.name.starts_with("ld.so");
}

SafePlaces::SafePlaces(int process, const ProcessModules &modules)
    : process_(process), modules_(modules), libc_(modules.named("libc.so.6")) {
    const auto loader = std::ranges::find_if(modules.all(), is_loader);
    loader_ = loader == modules.all().end() ? nullptr : &*loader;
    for (const ProcessModule &module : modules.all()) {
        if (modules.function(module, GR_ATTACH_FUNCTION)) {
            recorders_.push_back(&module);
        } else if (&module != libc_ && &module != loader_ && modules.function(module, "malloc")) {
            allocators_.push_back(&module);
        }
    }
    if (libc_ != nullptr) signal_return_ = modules.find_code(*libc_, signal_return_code()).value_or(0);
}

bool SafePlaces::has(const StoppedThread &thread) const {
    if (thread.is_in_stopped_process()) return false;
    const std::uint64_t code = thread.registers().code();
    const ProcessModule *const module = modules_.at(code);
    if (module != nullptr && (is_in(recorders_, module) || is_in(allocators_, module))) return false;
    if (!is_in_harmless_call(thread) && !is_own_code(code)) return false;
    return !thread.is_in_restartable_sequence() && !has_interrupted_others(thread);
}

// Code that lies in no file is the program's, too, except for the kernel's, which libc calls at any time.
bool SafePlaces::is_own_code(std::uint64_t address) const {
    const ProcessModule *const module = modules_.at(address);
    if (module == nullptr) return address - modules_.mapping_named("[vdso]").value_or(0) >= kMostKernelBytes;
    return module != libc_ && module != loader_ && !is_in(recorders_, module) && !is_in(allocators_, module);
}

bool SafePlaces::is_in_harmless_call(const StoppedThread &thread) const {
    const Registers &registers = thread.registers();
    const std::optional<long> call = registers.call();
    if (!call) return false;
    if (is_one_of(*call, kHarmless) || is_one_of(*call, older_waiting_calls())) return true;
    if (is_one_of(*call, kTalk)) return is_talk(registers.argument(0));
    if (*call == SYS_nanosleep) return sleeps_long(thread, 0);
    if (*call == SYS_clock_nanosleep) return sleeps_long(thread, 2);
    return *call == SYS_futex && waits_for_no_lock(thread);
}

// libc's locks, and those of many allocators, wait while the word is 2; its conditions and joins wait by a mask of bits.
bool SafePlaces::waits_for_no_lock(const StoppedThread &thread) const {
    constexpr std::uint64_t kLocked = 2;
    const std::uint64_t operation =
        thread.registers().argument(1) & ~std::uint64_t{FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME};
    const std::uint64_t value = thread.registers().argument(2) & UINT32_MAX;
    if (operation == FUTEX_WAIT_BITSET) return value != kLocked;
    return operation == FUTEX_WAIT && value != kLocked && allocators_.empty();
}

// Locks that wait by sleeping sleep for a short time.
bool SafePlaces::sleeps_long(const StoppedThread &thread, unsigned argument) const {
    constexpr std::int64_t kLong = 500'000;
    timespec time{};
    if (!thread.read(thread.registers().argument(argument), &time, sizeof time)) return false;
    return allocators_.empty() || time.tv_sec > 0 || time.tv_nsec >= kLong;
}

// A file that is no file of a disk, and not where an allocator writes what it has to say.
bool SafePlaces::is_talk(std::uint64_t file) const {
    std::error_code error;
    const std::filesystem::path link = fmt::format("/proc/{}/fd/{}", process_, file);
    const std::string name = std::filesystem::read_symlink(link, error).string();
    return file != 2 && (name.starts_with("socket:") || name.starts_with("anon_inode:") || name.starts_with("/dev/") ||
                         std::filesystem::is_fifo(link, error));
}

// The thread runs a signal handler that came between two steps of the loader or an allocator, libc's included.
bool SafePlaces::has_interrupted_others(const StoppedThread &thread) const {
    constexpr std::size_t kPieceWords = 512;
    constexpr std::uint64_t kMostBytes = 256 << 10;
    if (signal_return_ == 0) return false;
    std::uint64_t at = thread.registers().stack() & ~std::uint64_t{7};
    const std::uint64_t end = at + kMostBytes;
    std::array<std::uint64_t, kPieceWords> words{};
    while (at < end) {
        const std::uint64_t to_page = ProcessMemory::page_bytes() - at % ProcessMemory::page_bytes();
        const std::uint64_t bytes = std::min<std::uint64_t>(to_page, sizeof words);
        if (!thread.read(at, words.data(), bytes)) return false;
        for (std::size_t i = 0; i < bytes / sizeof words[0]; ++i) {
            const std::uint64_t frame = at + i * sizeof words[0];
            std::uint64_t flags = 0;
            std::uint64_t link = 0;
            std::uint64_t code = 0;
            if (words[i] != signal_return_ || !thread.read(frame + kFlagsAt, &flags, sizeof flags) ||
                !thread.read(frame + kLinkAt, &link, sizeof link) || flags > kMostFlags || link != 0 ||
                !thread.read(frame + interrupted_place_offset(), &code, sizeof code))
                continue;
            if (!is_own_code(code)) return true;
        }
        at += bytes;
    }
    return false;
}

}  // namespace gr::tool
