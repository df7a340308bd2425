// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: processes that come from the recorded program and have not arrived: they have not called malloc yet, or never
//    loaded the recorder's library.
// Invariant: found by what they inherited: the memory that the recording shares, or the variable that names it. So it
//    does not matter which descriptors a process has closed, and whether its parent still lives.
// Must not know: what is done with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/record/shared_recording.hpp"

namespace gr::tool {

struct UnarrivedProcess {
    std::uint32_t process = 0;
    std::string program;
    bool has_mapped = false;  // the shared memory: it arrives with its first call
};

[[nodiscard]] std::vector<UnarrivedProcess> unarrived_processes(const SharedRecording &recording);

}  // namespace gr::tool
