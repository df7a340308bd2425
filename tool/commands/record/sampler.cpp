// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/sampler.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "commands/record/process_files.hpp"

namespace gr::tool {

namespace {

// The samples, and the looks at details, each cost at most one of so many parts of the time.
constexpr int kPart = 100;
constexpr int kDetailsPart = 200;

// Of /proc/PID/stat.
constexpr unsigned kMinorFaults = 10;
constexpr unsigned kMajorFaults = 12;
constexpr unsigned kUserTime = 14;
constexpr unsigned kSystemTime = 15;
constexpr unsigned kThreads = 20;

}  // namespace

Sampler::Sampler(std::uint32_t process) : process_(process) {
    has_cpu_clock_ = ::clock_getcpuclockid(static_cast<pid_t>(process), &cpu_clock_) == 0;
}

std::optional<trace::Sample> Sampler::take() {
    const Clock::time_point begin = Clock::now();
    const ProcessStatus status(process_);
    std::uint64_t pages = 0;
    std::uint64_t resident = 0;
    std::uint64_t shared = 0;
    std::ifstream(fmt::format("/proc/{}/statm", process_)) >> pages >> resident >> shared;
    if (!status.is_there() || pages == 0) {
        next_ = begin + kPause;
        return std::nullopt;
    }
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    trace::Sample sample;
    sample.resident_bytes = resident * page;
    sample.anonymous_bytes = (resident - std::min(shared, resident)) * page;
    sample.faults = status.field(kMinorFaults) + status.field(kMajorFaults);
    sample.threads = status.field(kThreads);
    const std::uint64_t user = status.field(kUserTime);
    const std::uint64_t system = status.field(kSystemTime);
    constexpr std::uint64_t kMicroseconds = 1000000;
    const auto tick = kMicroseconds / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    sample.user_microseconds = user * tick;
    sample.system_microseconds = system * tick;
    // The sum is known better than the parts.
    if (timespec time{}; has_cpu_clock_ && ::clock_gettime(cpu_clock_, &time) == 0) {
        const std::uint64_t all =
            static_cast<std::uint64_t>(time.tv_sec) * kMicroseconds + static_cast<std::uint64_t>(time.tv_nsec) / 1000;
        sample.system_microseconds = user + system == 0 ? 0 : all * system / (user + system);
        sample.user_microseconds = all - sample.system_microseconds;
    }
    const Clock::time_point end = Clock::now();
    next_ = std::max(begin + kPause, end + (end - begin) * kPart);
    if (end >= next_details_) look_at_details(end);
    sample.lazy_free_bytes = lazy_free_bytes_;
    sample.huge_bytes = huge_bytes_;
    return sample;
}

void Sampler::look_at_details(Clock::time_point begin) {
    std::ifstream file(fmt::format("/proc/{}/smaps_rollup", process_));
    for (std::string line; std::getline(file, line);) {
        constexpr std::uint64_t kKibibyte = 1024;
        const auto bytes = [&](const char *name) {
            return std::stoull(line.substr(std::string(name).size())) * kKibibyte;
        };
        if (line.starts_with("LazyFree:")) lazy_free_bytes_ = bytes("LazyFree:");
        if (line.starts_with("AnonHugePages:")) huge_bytes_ = bytes("AnonHugePages:");
    }
    const Clock::time_point end = Clock::now();
    next_details_ = end + (end - begin) * kDetailsPart;
}

}  // namespace gr::tool
