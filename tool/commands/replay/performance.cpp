// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/replay/performance.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "commands/replay/player/script.hpp"
#include "reading/allocators/loader_path.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char *kPlayer = "granary-player";
constexpr long kBetweenLooks = 1000000;  // nanoseconds

[[noreturn]] void fail(const std::string &what) {
    throw Failure(ExitCode::tool_failure, fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

std::string find_player() {
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path &candidate : {folder / kPlayer, folder / ".." / "libexec" / "granary" / kPlayer}) {
        if (fs::exists(candidate, error)) return candidate.lexically_normal().string();
    }
    throw Failure(ExitCode::tool_failure,
                  fmt::format("no {} next to {} or in ../libexec/granary", kPlayer, in_quotes(folder.string())));
}

class SharedProgress {
  public:
    SharedProgress() : file_(::memfd_create("granary-progress", MFD_CLOEXEC)) {
        if (file_ < 0 || ::ftruncate(file_, sizeof(Progress)) != 0)
            fail("cannot share memory with the replaying process");
        void *const at = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
        if (at == MAP_FAILED) fail("cannot share memory with the replaying process");
        progress_ = static_cast<Progress *>(at);
    }
    ~SharedProgress() {
        ::munmap(progress_, sizeof(Progress));
        ::close(file_);
    }
    SharedProgress(const SharedProgress &) = delete;
    SharedProgress &operator=(const SharedProgress &) = delete;

    [[nodiscard]] int file() const { return file_; }
    [[nodiscard]] const Progress &get() const { return *progress_; }
    [[nodiscard]] Stage stage() const { return Stage{__atomic_load_n(&progress_->state, __ATOMIC_ACQUIRE)}; }
    void wait_a_moment(Stage seen) const {
        const timespec time{0, kBetweenLooks};
        ::syscall(SYS_futex, &progress_->state, FUTEX_WAIT, std::uint32_t{seen}, &time, nullptr, 0);
    }
    void let_go_on(Stage stage) {
        __atomic_store_n(&progress_->go, std::uint32_t{stage}, __ATOMIC_RELEASE);
        ::syscall(SYS_futex, &progress_->go, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }

  private:
    int file_;
    Progress *progress_ = nullptr;
};

// Ends with it, however that is.
class PlayerProcess {
  public:
    PlayerProcess(const std::string &player, int script, const SharedProgress &progress,
                  const ChosenAllocator &allocator)
        : name_(allocator.name) {
        const std::string preloaded = preload_path(allocator.library);
        process_ = ::fork();
        if (process_ < 0) fail("cannot start the replaying process");
        if (process_ == 0) become(player, script, progress.file(), preloaded, allocator);
    }
    ~PlayerProcess() {
        if (ended_) return;
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    PlayerProcess(const PlayerProcess &) = delete;
    PlayerProcess &operator=(const PlayerProcess &) = delete;

    // Throws Failure if it ended of itself.
    void require_alive() {
        int status = 0;
        if (::waitpid(process_, &status, WNOHANG) == process_) {
            ended_ = true;
            throw_end(status);
        }
    }
    void wait_for_end() {
        int status = 0;
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        ended_ = true;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw_end(status);
    }
    void require_library(const std::string &library) const {
        if (library.empty()) return;
        std::error_code error;
        const std::string path = fs::canonical(library, error).string();
        std::ifstream file(fmt::format("/proc/{}/maps", process_));
        for (std::string line; std::getline(file, line);) {
            if (line.ends_with(path)) return;
        }
        throw Failure(ExitCode::tool_failure,
                      fmt::format("{} was not loaded into the replaying process", in_quotes(library)));
    }
    // In bytes, from a file of /proc that has "Name:  N kB".
    [[nodiscard]] std::uint64_t kilobytes(const char *file_name, std::string_view name) const {
        std::ifstream file(fmt::format("/proc/{}/{}", process_, file_name));
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 10) << 10;
        }
        return 0;
    }

  private:
    [[noreturn]] void throw_end(int status) const {
        const std::string how = WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                                                    : fmt::format("ended with status {}", WEXITSTATUS(status));
        throw Failure(ExitCode::tool_failure, fmt::format("on {} the replaying process {}", name_, how));
    }
    [[noreturn]] static void become(const std::string &player, int script, int progress, const std::string &preloaded,
                                    const ChosenAllocator &allocator) noexcept {
        set_variable("LD_PRELOAD", preloaded);
        for (const auto &[name, value] : allocator.environment) set_variable(name.c_str(), value);
        std::string script_word = std::to_string(::dup(script));  // without CLOEXEC
        std::string progress_word = std::to_string(::dup(progress));
        std::string name = kPlayer;
        const std::array<char *, 4> words{name.data(), script_word.data(), progress_word.data(), nullptr};
        ::execv(player.c_str(), words.data());
        ::_exit(static_cast<int>(ExitCode::cannot_invoke));
    }

    std::string name_;
    pid_t process_ = -1;
    bool ended_ = false;
};

class Watch {
  public:
    Watch(PlayerProcess &process, SharedProgress &progress) : process_(process), progress_(progress) {}

    void reach(Stage stage) {
        for (Stage seen = progress_.stage(); seen != stage; seen = progress_.stage()) {
            process_.require_alive();
            progress_.wait_a_moment(seen);
        }
    }
    Performance run() {
        before_ = exact();
        progress_.let_go_on(kReady);
        bool peak_is_over = false;
        for (Stage seen = progress_.stage(); seen != kDone; seen = progress_.stage()) {
            if (seen == kAtPeak && !peak_is_over) {
                peak_is_over = true;  // it may be seen again until the player has woken
                performance_.resident_at_peak = exact() - before_;
                note(performance_.resident_at_peak);
                progress_.let_go_on(kAtPeak);
            } else {
                process_.require_alive();
                const std::uint64_t now = process_.kilobytes("status", "RssAnon:");
                note(now - std::min(now, before_));
            }
            progress_.wait_a_moment(seen);
        }
        const std::uint64_t end = exact();
        performance_.resident_at_end = end - std::min(end, before_);
        note(performance_.resident_at_end);
        finish();
        return std::move(performance_);
    }

  private:
    // The kernel's quick number lags by some pages for each CPU.
    [[nodiscard]] std::uint64_t exact() const { return process_.kilobytes("smaps_rollup", "Anonymous:"); }
    void note(std::uint64_t bytes) {
        performance_.most_resident = std::max(performance_.most_resident, bytes);
        performance_.resident.push_back({__atomic_load_n(&progress_.get().done, __ATOMIC_RELAXED), bytes});
    }
    void finish() {
        const Progress &told = progress_.get();
        performance_.wall_seconds = static_cast<double>(told.wall_nanoseconds) * 1e-9;
        performance_.user_seconds = static_cast<double>(told.user_microseconds) * 1e-6;
        performance_.system_seconds = static_cast<double>(told.system_microseconds) * 1e-6;
        performance_.faults = told.faults;
        performance_.failed = told.failed;
        performance_.live_at_peak = told.live_at_peak;
    }

    PlayerProcess &process_;
    SharedProgress &progress_;
    Performance performance_;
    std::uint64_t before_ = 0;
};

}  // namespace

Performance perform(int script, const ChosenAllocator &allocator) {
    SharedProgress progress;
    PlayerProcess process(find_player(), script, progress, allocator);
    Watch watch(process, progress);
    watch.reach(kReady);
    process.require_library(allocator.library);
    Performance performance = watch.run();
    progress.let_go_on(kDone);
    process.wait_for_end();
    return performance;
}

}  // namespace gr::tool
