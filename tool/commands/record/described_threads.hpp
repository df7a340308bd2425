// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where the stacks of a process's threads lie, also of threads that have told the recorder nothing: each lies before
//    the thread's description, which glibc makes known to the kernel.
// Invariant: the process is neither stopped nor traced, and none of its pages is touched. What cannot be read is left out.
// Must not know: what else lies in the memory.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace gr::tool {

class DescribedThreads {
  public:
    struct Stack {
        std::uint64_t pointer = 0;  // to the description of its thread
        std::uint64_t place = 0;    // in it
    };

    // The stacks of all threads but the first, without those that were found before.
    std::vector<Stack> find(std::uint32_t process);
    // The stacks of threads that have ended since. They are forgotten.
    std::vector<Stack> forget_ended(std::uint32_t process);

  private:
    std::map<int, Stack> found_;  // by threads
};

}  // namespace gr::tool
