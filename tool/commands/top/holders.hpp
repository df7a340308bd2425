// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: who holds a process's memory: the sums of its profile by the calls that got it, with their names.
// Invariant: stacks that differ only in calls that are not asked for are one; each sum is in one of them.
// Must not know: how it is shown.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reading/heap/profile_snapshot.hpp"
#include "reading/process/code_places.hpp"

namespace gr::tool {

enum class Order : std::uint8_t { live, peak, allocated };

struct Holder {
    ProfileSums sums;
    std::vector<CodePlace> calls;  // the innermost first; empty: no stack is known

    // The name of a call's function; else its file and place there, or its address.
    [[nodiscard]] static std::string name_of(const CodePlace &place);
};

struct Holders {
    int process = 0;
    std::string executable{};
    ProfileSnapshot profile{};
    std::uint64_t now = 0;  // by the clock of the profile
    std::vector<Holder> all{};
};

// Of one process, again and again.
class HolderReader {
  public:
    // Throws Failure when there is no such process, it may not be looked at, or takes no profile.
    explicit HolderReader(int process);
    ~HolderReader();
    HolderReader(const HolderReader &) = delete;
    HolderReader &operator=(const HolderReader &) = delete;

    // By so many of the innermost calls, the largest first. Throws Failure when the process has ended.
    [[nodiscard]] Holders read(Order order, std::size_t calls);

  private:
    [[nodiscard]] const CodePlace &place_of(std::uint64_t call);

    ProcessMemory memory_;
    std::optional<ProfileReader> profile_;
    std::unique_ptr<CodePlaces> places_;  // of the files that were mapped when it was made
    std::vector<CodeModule> modules_;     // these, and addresses that are nobody's
};

}  // namespace gr::tool
