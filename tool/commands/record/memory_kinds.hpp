// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the resident memory of a process is for: each of its mappings, or the pieces of one, by kind, by name and by
//    the stack that mapped it.
// Invariant: the pieces of a mapping add up to it. What a request of the program's is known for is the program's, even if
//    the kernel joined it with memory of another; what none of the rules explains is not known.
// Must not know: when a process is looked at.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "commands/record/process_mappings.hpp"
#include "commands/record/thread_events.hpp"
#include "reading/trace/contents.hpp"

namespace gr::tool {

class MemoryKinds {
  public:
    explicit MemoryKinds(std::uint32_t process) : process_(process) {}

    // Looks at the process; false: it is gone. What the mappings are for is told when the records of the time before have
    // come.
    [[nodiscard]] bool look(trace::Time time);
    [[nodiscard]] bool has_looked() const { return !mappings_.empty(); }
    // Of the last look, by what was known then: the ranges, and the rest of the events.
    [[nodiscard]] trace::MemoryLook tell(const OwnRanges &ranges, const ProcessEvents &events);
    // Those that came with it.
    [[nodiscard]] const std::vector<std::string> &new_names() const { return new_names_; }

  private:
    struct Piece {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        trace::MemoryKind kind{};
        trace::StackNumber stack = trace::StackNumber::none;
        bool is_of_file = false;  // it has the name of the mapping before
    };
    using Key = std::tuple<trace::MemoryKind, std::uint32_t, trace::StackNumber>;

    void take(const SmapsEntry &mapping, const ProcessEvents &events);
    void take_file(const SmapsEntry &mapping);
    [[nodiscard]] trace::StackNumber stack_at(std::uint64_t begin, std::uint64_t end) const;
    void take_private(const SmapsEntry &mapping, const ProcessEvents &events);
    // Where no request is known; the rest is what nothing else is known of.
    [[nodiscard]] trace::MemoryKind kind_of_rest(const SmapsEntry &mapping, std::uint64_t begin, std::uint64_t end,
                                                 trace::MemoryKind rest, const ProcessEvents &events) const;
    [[nodiscard]] std::vector<Piece> pieces_of(const SmapsEntry &mapping, const ProcessEvents &events) const;
    void share_out(const SmapsEntry &mapping, const std::vector<Piece> &pieces);
    void add(trace::MemoryKind kind, const std::string &name, trace::StackNumber stack, std::uint64_t bytes,
             std::uint64_t resident);
    [[nodiscard]] std::uint32_t number_of_name(const std::string &name);

    static constexpr std::size_t kMostNames = std::size_t{1} << 16;

    std::uint32_t process_;
    std::map<std::string, std::uint32_t> names_;
    std::vector<std::string> new_names_;
    // Of one look.
    trace::Time time_;
    std::uint64_t page_tables_ = 0;
    std::vector<SmapsEntry> mappings_;
    const OwnRanges *ranges_ = nullptr;
    std::map<Key, trace::MemoryPart> parts_;
    std::set<std::string> modules_;  // files with code
    SmapsEntry before_;              // the mapping at lower addresses
};

}  // namespace gr::tool
