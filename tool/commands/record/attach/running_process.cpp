// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/attach/running_process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <granary/wire/recording.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "commands/record/attach/process_modules.hpp"
#include "commands/record/attach/refusals.hpp"
#include "commands/record/attach/safe_place.hpp"
#include "commands/record/process_files.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 10s;  // until a thread stands at a safe place
constexpr auto kLuck = 300ms;    // before threads are led to one step by step, which stops them for longer
constexpr unsigned kMostSteps = 4000;
constexpr auto kFirstPause = 1ms;
constexpr auto kLongestPause = 20ms;
constexpr const char *kLibc = "libc.so.6";

// A thread that waits for a disk, or for its child of vfork, would not stop until then.
bool can_stop(int process, int thread) {
    std::ifstream file(fmt::format("/proc/{}/task/{}/stat", process, thread));
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(") ");
    return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] != 'D' &&
           line[name_end + 2] != 'Z' && line[name_end + 2] != 'X';
}

// A program that does little else than allocate is hardly ever met outside of its allocator, and of the recorder's library.
bool comes_to_safe_place(StoppedThread &thread, const SafePlaces &places, unsigned steps) {
    for (; !places.has(thread); --steps) {
        if (steps == 0 || !thread.step()) return false;
    }
    return true;
}

// Nothing: none stands there now, nor after so many steps.
std::unique_ptr<StoppedThread> thread_at_safe_place(int process, const SafePlaces &places, unsigned steps) {
    int error = 0;
    bool has_stopped = false;
    for (const int thread : threads_of(static_cast<std::uint32_t>(process))) {
        if (!can_stop(process, thread)) continue;
        StoppedThread::Stopped stopped = StoppedThread::stop(process, thread);
        has_stopped = has_stopped || stopped.thread != nullptr;
        if (stopped.error != 0 && stopped.error != ESRCH) error = stopped.error;
        if (stopped.thread != nullptr && comes_to_safe_place(*stopped.thread, places, steps))
            return std::move(stopped.thread);
    }
    if (error != 0 && !has_stopped) refuse_by_kernel(process, error);
    return nullptr;
}

// Nothing: none came to such a place in time.
std::unique_ptr<StoppedThread> find_thread(const ProcessMemory &memory) {
    const int process = memory.process();
    const Clock::time_point begin = Clock::now();
    std::chrono::milliseconds pause = kFirstPause;
    for (;;) {
        const ProcessModules modules(memory);
        const unsigned steps = Clock::now() < begin + kLuck ? 0 : kMostSteps;
        if (std::unique_ptr<StoppedThread> thread = thread_at_safe_place(process, SafePlaces(process, modules), steps))
            return thread;
        if (Clock::now() > begin + kPatience) return nullptr;
        std::this_thread::sleep_for(pause);
        pause = std::min<std::chrono::milliseconds>(pause * 2, kLongestPause);
    }
}

std::uint64_t function_of_libc(int process, const ProcessModules &modules, const char *name) {
    const ProcessModule *const libc = modules.named(kLibc);
    const std::optional<std::uint64_t> address = libc == nullptr ? std::nullopt : modules.function(*libc, name);
    if (!address)
        refuse_process(process, fmt::format("its libc has no {}: it is older than the recorder's library needs", name));
    return *address;
}

CallInstructions instructions_in(int process, const ProcessModules &modules) {
    const ProcessModule *const libc = modules.named(kLibc);
    const std::optional<std::uint64_t> system_call =
        libc == nullptr ? std::nullopt : modules.find_code(*libc, system_call_code());
    if (!system_call) refuse_process(process, "its libc makes no system calls");
    return {*system_call, modules.find_code(*libc, trap_code())};
}

std::string reason_of(std::uint64_t result) {
    switch (static_cast<int>(result)) {
        case GR_ATTACH_RECORDED:
            return "it is recorded already";
        case GR_ATTACH_NO_MEMORY:
            return "the recorder's memory has no room in it (ulimit -v)";
        case GR_ATTACH_NO_MALLOC:
            return "no library of it has a malloc that can be recorded";
        default:
            return "the recorder did not let it begin";
    }
}

}  // namespace

RunningProcess::RunningProcess(std::uint32_t process, const std::string &library, const char *memory_name)
    : process_((check_process(static_cast<int>(process)), static_cast<int>(process))),
      library_(library),
      memory_(process_) {
    const ProcessModules modules(memory_);
    check_modules(process_, memory_, modules, library_);
    thread_ = find_thread(memory_);
    if (thread_ == nullptr)
        fail(fmt::format("within {} seconds none of its threads came to a place where it may load a library; try again",
                         kPatience.count()));
    check_filters(process_, *thread_);
    calls_ = std::make_unique<RemoteCalls>(*thread_, instructions_in(process_, modules));
    make_shared_memory(memory_name);
}

RunningProcess::~RunningProcess() {
    if (own_file_ >= 0) ::close(own_file_);
    close_remote_file();
}

void RunningProcess::close_remote_file() {
    if (calls_ == nullptr || remote_file_ < 0) return;
    const auto file = static_cast<std::uint64_t>(std::exchange(remote_file_, -1));
    try {
        calls_->system_call(SYS_close, {file, 0, 0, 0, 0, 0});
    } catch (const Failure &) {
        return;  // the process is gone, and its files with it
    }
}

void RunningProcess::fail(const std::string &why) const { refuse_process(process_, why); }

void RunningProcess::make_shared_memory(const char *name) {
    const std::int64_t file = calls_->system_call(SYS_memfd_create, {calls_->put(name), MFD_CLOEXEC, 0, 0, 0, 0});
    if (file < 0)
        fail(fmt::format("it may not make memory to share: {}",
                         std::generic_category().message(static_cast<int>(-file))));
    remote_file_ = static_cast<int>(file);
    own_file_ = ::open(fmt::format("/proc/{}/fd/{}", process_, file).c_str(), O_RDWR | O_CLOEXEC);
    const int error = errno;
    if (own_file_ >= 0) return;
    close_remote_file();
    fail(fmt::format("its memory cannot be shared: {}", std::generic_category().message(error)));
}

// The first word of what dlopen returns says where the library lies.
std::uint64_t RunningProcess::load_library() {
    const ProcessModules before(memory_);
    const std::uint64_t open = function_of_libc(process_, before, "dlopen");
    const std::uint64_t library = calls_->function(open, {calls_->put(library_), RTLD_NOW, 0, 0, 0, 0});
    if (library == 0) {
        const std::uint64_t why = calls_->function(function_of_libc(process_, before, "dlerror"), {});
        fail(fmt::format("its loader says: {}", why == 0 ? "no reason" : calls_->text_at(why)));
    }
    const ProcessModules modules(memory_);
    std::uint64_t base = 0;
    if (!memory_.read(library, &base, sizeof base)) fail("its loader is not glibc's");
    const auto at = std::ranges::find(modules.all(), base, &ProcessModule::begin);
    const std::optional<std::uint64_t> function =
        at == modules.all().end() ? std::nullopt : modules.function(*at, GR_ATTACH_FUNCTION);
    if (!function) fail(fmt::format("{} is of another version than this granary", in_quotes(library_)));
    return *function;
}

void RunningProcess::attach() {
    const std::uint64_t begin = load_library();
    const auto file = static_cast<std::uint64_t>(std::exchange(remote_file_, -1));
    const std::uint64_t result = calls_->function(begin, {file, 0, 0, 0, 0, 0});
    calls_.reset();
    thread_.reset();
    if (static_cast<int>(result) != 0) fail(reason_of(result));
}

void detach_process(std::uint32_t process, const std::string &library) {
    const ProcessMemory memory(static_cast<int>(process));
    const ProcessModules modules(memory);
    // A process may have several, of which the others record nothing: each version of granary has a library of its own.
    const std::string name = fs::path(library).filename().string();
    std::vector<std::uint64_t> functions;
    for (const ProcessModule &module : modules.all()) {
        const std::optional<std::uint64_t> function =
            module.name == name ? modules.function(module, GR_DETACH_FUNCTION) : std::nullopt;
        if (function) functions.push_back(*function);
    }
    if (functions.empty()) return;
    const std::unique_ptr<StoppedThread> thread = find_thread(memory);
    if (thread == nullptr)
        throw Failure(ExitCode::not_runnable,
                      fmt::format("within {} seconds none of its threads came to a place where it may take the library "
                                  "out of the way",
                                  kPatience.count()));
    RemoteCalls calls(*thread, instructions_in(memory.process(), modules));
    for (const std::uint64_t function : functions) calls.function(function, {});
}

// A process that ends loses its memory before the kernel tells that the process is gone.
bool has_memory(std::uint32_t process) {
    std::ifstream file(fmt::format("/proc/{}/maps", process));
    return file.peek() != std::ifstream::traits_type::eof();
}

}  // namespace gr::tool
