// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/live_processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

namespace gr::tool {

LiveProcess::LiveProcess(Arrival arrival, std::uint32_t process)
    : arrival_(arrival),
      process_(process),
      descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))),
      status_(::open(fmt::format("/proc/{}/stat", process).c_str(), O_RDONLY | O_CLOEXEC)),
      sampler_(process) {}

LiveProcess::~LiveProcess() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (status_ >= 0) ::close(status_);
}

bool LiveProcess::is_gone() const {
    if (descriptor_ < 0) return ::kill(static_cast<pid_t>(process_), 0) != 0 && errno == ESRCH;
    pollfd query{descriptor_, POLLIN, 0};
    return ::poll(&query, 1, 0) == 1;
}

// A process that nobody has waited for yet still tells it, in its last field.
int LiveProcess::wait_status() const {
    std::array<char, 2048> text{};
    const ssize_t size = ::pread(status_, text.data(), text.size(), 0);
    if (size <= 0) return -1;
    std::string_view line(text.data(), static_cast<std::size_t>(size));
    if (line.ends_with('\n')) line.remove_suffix(1);
    const std::size_t blank = line.rfind(' ');
    const std::size_t name_end = line.rfind(')');
    if (blank == std::string_view::npos || name_end == std::string_view::npos ||
        !line.substr(name_end).starts_with(") Z"))
        return -1;
    int status = -1;
    std::from_chars(line.data() + blank + 1, line.data() + line.size(), status);
    return status;
}

void LiveProcesses::add(std::shared_ptr<LiveProcess> process) {
    const std::lock_guard lock(mutex_);
    list_.push_back(std::move(process));
}

std::shared_ptr<LiveProcess> LiveProcesses::remove(Arrival arrival) {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find_if(list_, [&](const auto &each) { return each->arrival() == arrival; });
    if (at == list_.end()) return nullptr;
    std::shared_ptr<LiveProcess> found = std::move(*at);
    list_.erase(at);
    return found;
}

LiveProcesses::List LiveProcesses::all() const {
    const std::lock_guard lock(mutex_);
    return list_;
}

}  // namespace gr::tool
