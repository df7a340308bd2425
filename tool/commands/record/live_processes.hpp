// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the processes that are being recorded and live, for who watches them.
// Invariant: a lock guards the list; each is added once and taken out once.
// Must not know: why they are watched.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "commands/record/message.hpp"
#include "commands/record/sampler.hpp"

namespace gr::tool {

// Closes the descriptors that tell of a process; what could not be opened is -1.
class LiveProcess {
  public:
    LiveProcess(Arrival arrival, std::uint32_t process);
    ~LiveProcess();
    LiveProcess(const LiveProcess &) = delete;
    LiveProcess &operator=(const LiveProcess &) = delete;

    [[nodiscard]] Arrival arrival() const { return arrival_; }
    [[nodiscard]] std::uint32_t process() const { return process_; }
    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] bool is_gone() const;
    // How it ended, as wait(2) would say, where the kernel tells that; else -1.
    [[nodiscard]] int wait_status() const;
    Sampler &sampler() { return sampler_; }

  private:
    Arrival arrival_;
    std::uint32_t process_;
    int descriptor_ = -1;
    int status_ = -1;
    Sampler sampler_;
};

class LiveProcesses {
  public:
    using List = std::vector<std::shared_ptr<LiveProcess>>;

    void add(std::shared_ptr<LiveProcess> process);
    // Nothing where it is not there.
    std::shared_ptr<LiveProcess> remove(Arrival arrival);
    [[nodiscard]] List all() const;

  private:
    mutable std::mutex mutex_;
    List list_;
};

}  // namespace gr::tool
