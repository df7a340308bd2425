// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: peaks of resident memory over the tenths of a run, and the verdict that it is flat.
// Invariant: the kernel's own high-water mark is used, so no peak lies between two samples. A ballast of touched pages
//    makes five percent much more than the noise of the kernel's counters and much less than any leak that
//    grows with the number of operations.
// Must not know: what a step of the run does.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "cpus.hpp"

namespace gr::test {

class Ballast {
  public:
    Ballast() {
        void *area = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (area == MAP_FAILED) fail("ballast: %s", std::strerror(errno));
        std::memset(area, 1, kBytes);
    }

  private:
    static constexpr size_t kBytes = size_t{24} << 20;
};

// Binds thread after thread to one CPU after the other. Else memory might grow late for no other reason than that the
// kernel was late to use the second CPU.
class Spread {
  public:
    void bind_me(size_t number) const { pin(0, cpus_[number % cpus_.size()]); }

  private:
    std::vector<int> cpus_ = allowed_cpus();
};

// Sets the high-water mark back to what is resident now.
inline void reset_peak() {
    const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "5", 1) != 1)
        fail("/proc/self/clear_refs: %s; the peak of a part of the run cannot be measured", std::strerror(errno));
    close(file);
}

// In KiB, since the last reset_peak().
inline size_t peak() {
    char text[4096];
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (length < 0) fail("/proc/self/status: %s", std::strerror(errno));
    close(file);
    text[length] = '\0';
    const char *line = std::strstr(text, "VmHWM:");
    if (line == nullptr) fail("/proc/self/status: no VmHWM");
    return std::strtoul(line + std::strlen("VmHWM:"), nullptr, 10);
}

class Run {
  public:
    // With seconds the run is a soak: the time decides how long it is, yet not whether it passes.
    Run(size_t steps, unsigned seconds) : steps_(steps), seconds_(seconds) {
        if (seconds != 0 && seconds < kParts) fail("--seconds: at least %zu, since tenths are compared", kParts);
        if (seconds == 0 && steps < kParts) fail("--steps: at least %zu, since tenths are compared", kParts);
    }

    template <typename Step>
    void each(Step step) {
        for (size_t part = 0; part < kParts; ++part) {
            reset_peak();
            const Clock::time_point end = Clock::now() + std::chrono::milliseconds(seconds_ * 1000 / kParts);
            for (size_t count = 0; seconds_ != 0 ? Clock::now() < end : count < steps_ / kParts; ++count) step();
            peaks_.push_back(peak());
        }
    }

    // The last tenths against those before the half, when every heap and magazine has met every size. Peaks rise and fall
    // as memory returns to the OS, by a few MiB at once. What grows with the steps lifts all of the last ones above all of
    // the settled ones, so the least of a few last ones is compared with the most of a few settled ones. In a soak the last
    // tenth is compared with the second, a minute each of ten.
    void require_flat(const char *name) const {
        const double allowed = seconds_ != 0 ? 1.02 : 1.05;
        const size_t settled = seconds_ != 0 ? peaks_[1] : most_before(kParts / 2);
        const size_t last = seconds_ != 0 ? peaks_.back() : least_before(kParts);
        const double ratio = static_cast<double>(last) / static_cast<double>(settled);
        dprintf(STDOUT_FILENO, "%s: peak KiB", name);
        for (const size_t value : peaks_) dprintf(STDOUT_FILENO, " %zu", value);
        dprintf(STDOUT_FILENO, "; last to settled %.3f\n", ratio);
        if (ratio > allowed) fail("%s: resident memory grows: %.3f, allowed %.2f", name, ratio, allowed);
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr size_t kParts = 10;

    // Of the three parts before `end`.
    size_t most_before(size_t end) const { return std::max({peaks_[end - 1], peaks_[end - 2], peaks_[end - 3]}); }
    size_t least_before(size_t end) const { return std::min({peaks_[end - 1], peaks_[end - 2], peaks_[end - 3]}); }

    Ballast ballast_;
    size_t steps_;
    size_t seconds_;
    std::vector<size_t> peaks_;
};

}  // namespace gr::test
