// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the names of code that a process made while it ran, as the process tells them to perf: in /tmp/perf-PID.map.
// Invariant: only names of addresses are kept that stacks have. The file is the process's own user's, or it tells nothing.
// Must not know: stacks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "reading/trace/contents.hpp"

namespace gr::tool {

class MadeCode {
  public:
    // Of a process that lives.
    explicit MadeCode(std::uint32_t process);

    // An address behind a call, in no file.
    void add(std::uint64_t address);
    // Looks at the file. Returns the names that were not returned before.
    [[nodiscard]] std::vector<trace::MadeFunction> take_names();

  private:
    static constexpr std::size_t kMostAddresses = std::size_t{1} << 20;

    [[nodiscard]] std::string contents() const;

    std::vector<std::string>
        paths_;  // of the file, where the process has it and where it is when the process has ended
    uid_t user_ = 0;
    std::set<std::uint64_t> unnamed_;
};

}  // namespace gr::tool
