// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary bench.
// Invariant: the words after `bench` reach the bench as they are; its exit code is granary's.
// Must not know: the bench's options.
#pragma once

#include <string>
#include <vector>

namespace gr::tool {

// Becomes the bench. Throws Failure when it is not there.
[[noreturn]] void run_bench(const std::vector<std::string> &arguments);

}  // namespace gr::tool
