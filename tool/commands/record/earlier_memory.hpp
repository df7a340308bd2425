// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a process had mapped before its recording began, as far as its memory tells what it is for: heaps and large
//    blocks of glibc's malloc, and the rest.
// Invariant: the process is neither stopped nor traced, and none of its pages is touched. What cannot be read is left out.
// Must not know: what is recorded later.
#pragma once

#include <cstdint>
#include <vector>

#include "commands/record/process_mappings.hpp"
#include "reading/process/process_memory.hpp"

namespace gr::tool {

class EarlierMemory {
  public:
    // Private memory without a file.
    struct Part {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        bool is_allocators = false;
    };

    explicit EarlierMemory(std::uint32_t process);

    [[nodiscard]] const std::vector<Part> &parts() const { return parts_; }

  private:
    void find_parts(const ProcessMemory &memory, const std::vector<SmapsEntry> &mappings);

    std::vector<Part> parts_;
};

}  // namespace gr::tool
