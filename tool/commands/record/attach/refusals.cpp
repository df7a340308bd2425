// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/attach/refusals.hpp"

#include <fmt/format.h>
#include <granary/wire/recording.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "commands/record/attach/machine/machine.hpp"
#include "commands/record/attach/safe_place.hpp"
#include "commands/record/attach/system_call_filters.hpp"
#include "commands/record/shared_recording.hpp"
#include "reading/process/elf_file.hpp"

namespace gr::tool {

namespace {

using Fields = std::map<std::string, std::string>;

// Seccomp's modes, as /proc shows them.
constexpr const char *kStrict = "1";
constexpr const char *kFiltered = "2";

constexpr const char *kNobodyTraces = "3";  // Yama's limit that holds for root, too

// What it takes to load the library, and what the library does later.
constexpr long kNeededCalls[] = {SYS_memfd_create,   SYS_openat,    SYS_read,    SYS_fstat, SYS_mmap,
                                 SYS_munmap,         SYS_mprotect,  SYS_madvise, SYS_close, SYS_futex,
                                 SYS_gettid,         SYS_getpid,    SYS_prctl,   SYS_kill,  SYS_nanosleep,
                                 SYS_rt_sigprocmask, SYS_readlinkat};

Fields status_of(int process) {
    std::ifstream file(fmt::format("/proc/{}/status", process));
    Fields fields;
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        const std::size_t value = line.find_first_not_of(" \t", colon + 1);
        if (colon == std::string::npos || value == std::string::npos) continue;
        fields[line.substr(0, colon)] = line.substr(value, line.find('\t', value) - value);
    }
    return fields;
}

void check_owner(int process, const Fields &status) {
    if (std::ifstream(fmt::format("/proc/{}/maps", process)).is_open()) return;
    const auto user = status.find("Uid");
    if (user != status.end() && user->second != std::to_string(::geteuid()))
        refuse_process(process,
                       fmt::format("it belongs to another user (uid {}); try as that user or as root", user->second));
}

bool is_same_file(const std::string &path, const std::string &other) {
    struct stat one {};
    struct stat two {};
    return ::stat(path.c_str(), &one) == 0 && ::stat(other.c_str(), &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

// The recorder's library tells the recorder the ids that its process has.
void check_ids(int process) {
    const std::string ids = fmt::format("/proc/{}/ns/pid", process);
    if (::access(ids.c_str(), F_OK) == 0 && !is_same_file("/proc/self/ns/pid", ids))
        refuse_process(process,
                       "it has other process ids of its own (a container, or unshare --pid); run granary in there");
}

void check_program(int process) {
    const std::string path = fmt::format("/proc/{}/exe", process);
    try {
        const ElfFile program(path);
        if (program.format() == ElfFormat::foreign)
            refuse_process(process,
                           fmt::format("its program is for {}, and this granary is not", program.machine_text()));
        if (program.interpreter().empty())
            refuse_process(process, "its program is static: it has no loader that could load the recorder's library");
        if (program.interpreter().find("musl") != std::string_view::npos)
            refuse_process(process, "its libc is musl; the recorder's library needs glibc");
    } catch (const std::system_error &error) {
        if (error.code().value() == EACCES || error.code().value() == EPERM)
            refuse_by_kernel(process, error.code().value());
        fail_to_look(process, error.code().value());
    }
}

// A recorder that is gone leaves the memory mapped.
void check_recorder(int process, const ProcessMemory &memory, const ProcessModules &modules) {
    const std::optional<std::uint64_t> at = modules.mapping_named(fmt::format("memfd:{}", SharedRecording::kName));
    gr_recording recording{};
    if (!at || !memory.read(*at, &recording, sizeof recording) || recording.magic != GR_RECORDING_MAGIC) return;
    const auto recorder = static_cast<pid_t>(recording.recorder);
    if (recorder > 0 && (::kill(recorder, 0) == 0 || errno == EPERM))
        refuse_process(process, fmt::format("it is recorded already, by process {}", recorder));
}

}  // namespace

void refuse_process(int process, const std::string &why) {
    throw Failure(ExitCode::not_runnable, fmt::format("process {} cannot be recorded: {}", process, why));
}

void refuse_by_kernel(int process, int error) {
    if (error == ESRCH) fail_ended(process);
    std::string limit;
    std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> limit;
    const std::string why =
        limit.empty() || limit == "0"
            ? fmt::format("the kernel does not let it be traced: {}", std::generic_category().message(error))
            : fmt::format("the kernel lets no process trace another (kernel.yama.ptrace_scope is {})", limit);
    const char *const remedy = limit == kNobodyTraces ? ""
                               : ::geteuid() == 0     ? "give granary the capability CAP_SYS_PTRACE, or "
                                                      : "try as root, or ";
    refuse_process(process, fmt::format("{}; {}run the program by granary record", why, remedy));
}

void check_process(int process) {
    if (!can_call_remotely()) refuse_process(process, "on this CPU only programs that granary starts are recorded");
    if (process == ::getpid()) refuse_process(process, "it is the recorder");
    const Fields status = status_of(process);
    const auto field = [&](const char *name) {
        const auto at = status.find(name);
        return at == status.end() ? std::string() : at->second;
    };
    if (status.empty()) throw Failure(ExitCode::not_found, fmt::format("no process {}", process));
    if (field("Tgid") != std::to_string(process))
        refuse_process(process, fmt::format("it is a thread of process {}", field("Tgid")));
    const bool has_ended = field("State").starts_with('Z') || field("State").starts_with('X');
    if (has_ended && field("Threads") != "1")
        refuse_process(
            process,
            "its first thread has ended (pthread_exit), and the kernel shows the memory of such a process no more");
    if (has_ended) fail_ended(process);
    check_owner(process, status);
    if (const std::string tracer = field("TracerPid"); tracer != "0" && !tracer.empty())
        refuse_process(process, fmt::format("process {} traces it, such as a debugger; end that first", tracer));
    if (field("State").starts_with('T'))
        refuse_process(process, fmt::format("it is stopped; continue it first (kill -CONT {})", process));
    if (field("Seccomp") == kStrict)
        refuse_process(process, "its seccomp mode lets it do no more than read, write and exit");
    check_program(process);
    check_ids(process);
}

void check_modules(int process, const ProcessMemory &memory, const ProcessModules &modules,
                   const std::string &library) {
    check_recorder(process, memory, modules);
    if (std::ranges::none_of(modules.all(), is_loader) || modules.named("libc.so.6") == nullptr)
        refuse_process(process, "it has not loaded glibc");
    for (const ProcessModule &module : modules.all()) {
        if (module.path == memory.executable() && modules.function(module, "malloc"))
            refuse_process(process, "its malloc is part of the program itself, which calls it directly");
    }
    if (!is_same_file(library, fmt::format("/proc/{}/root{}", process, library)))
        refuse_process(
            process,
            fmt::format("it lives among other files (a container, or chroot), where {} is another file or missing",
                        in_quotes(library)));
}

void check_filters(int process, const StoppedThread &thread) {
    const Fields status = status_of(process);
    const auto mode = status.find("Seccomp");
    if (mode == status.end() || mode->second != kFiltered) return;
    const std::optional<SystemCallFilters> filters = SystemCallFilters::of(thread);
    if (!filters)
        refuse_process(process,
                       "its system calls are filtered (seccomp), and only root sees what the filter does; try as root");
    for (const long call : kNeededCalls) {
        if (filters->would_harm(call))
            refuse_process(
                process,
                fmt::format("its seccomp filter would end it for a system call of the recorder's library (number {})",
                            call));
    }
}

}  // namespace gr::tool
