// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which functions hold a process's memory: the sums of its profile by the function that wanted the memory and its
//    callers, with their names.
// Invariant: stacks that differ only in calls that are not asked for are one; each sum is in one of them. Calls of the
//    standard library and of the allocator at the inner end of a stack are not asked for.
// Must not know: how it is shown.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "reading/heap/profile_snapshot.hpp"
#include "reading/process/code_places.hpp"
#include "reading/symbols/call.hpp"
#include "reading/symbols/library_code.hpp"

namespace gr::tool {

enum class Order : std::uint8_t { live, peak, allocated };

struct Holder {
    ProfileSums sums;
    std::vector<CodePlace> calls;  // from the function that wanted the memory outward; empty: no stack is known

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
    // The wrappers are functions or files that only allocate for their callers.
    HolderReader(int process, std::vector<std::string> wrappers);
    ~HolderReader();
    HolderReader(const HolderReader &) = delete;
    HolderReader &operator=(const HolderReader &) = delete;

    // By so many calls, the largest first. Throws Failure when the process has ended.
    [[nodiscard]] Holders read(Order order, std::size_t calls);

  private:
    // The calls that go on at one address: the places as they are shown, and the same calls as LibraryCode knows them.
    struct CallsAt {
        std::vector<CodePlace> places;  // the outermost first
        std::vector<Call> calls;
    };

    [[nodiscard]] const CallsAt &calls_at(std::uint64_t address);
    void look_at_files(std::uint64_t address);
    [[nodiscard]] std::vector<CodePlace> wanting(const std::vector<std::uint64_t> &stack, std::size_t count);

    ProcessMemory memory_;
    std::optional<ProfileReader> profile_;
    std::unique_ptr<CodePlaces> places_;  // of the files that were mapped when it was made
    std::vector<CodeModule> modules_;     // these
    std::set<std::uint64_t> unmapped_;    // addresses in no file
    std::unordered_map<std::uint64_t, CallsAt> known_;
    std::vector<std::string> wrappers_;
    std::optional<LibraryCode> library_;  // of the known calls
};

}  // namespace gr::tool
