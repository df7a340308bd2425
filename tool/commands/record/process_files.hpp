// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what /proc tells of a recorded process: who it is, which files with code it maps, its memory and time.
// Invariant: the process is neither stopped nor traced; what cannot be read is empty or 0.
// Must not know: the recording.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/record/address_ranges.hpp"
#include "reading/trace/contents.hpp"

namespace gr::tool {

// Program, arguments, process and parent, and the machine.
[[nodiscard]] trace::Start describe_process(std::uint32_t process);
// Fields of /proc/PID/stat behind the program's name, numbered as proc(5) has them.
class ProcessStatus {
  public:
    explicit ProcessStatus(std::uint32_t process);
    [[nodiscard]] bool is_there() const { return !fields_.empty(); }
    [[nodiscard]] std::uint64_t field(unsigned number) const;

  private:
    std::vector<std::uint64_t> fields_;
};
[[nodiscard]] std::uint32_t parent_of(std::uint32_t process);
[[nodiscard]] std::vector<int> threads_of(std::uint32_t process);
// In clock ticks since the machine started.
[[nodiscard]] std::uint64_t start_time_of(std::uint32_t process);

// Remembers files' build ids.
class CodeFiles {
  public:
    [[nodiscard]] std::vector<trace::Module> of_process(std::uint32_t process);

  private:
    const std::string &build_id(const std::string &path, const std::string &identity);

    std::map<std::string, std::string> build_ids_;  // by path, identity, size and last change
};

// The pages of these ranges that are in memory; nothing where that cannot be told, or would take too long.
[[nodiscard]] std::optional<std::vector<trace::PageRun>> resident_pages(std::uint32_t process,
                                                                        const AddressRanges &ranges);

}  // namespace gr::tool
