// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary collections: what the file that GRANARY_COLLECTIONS names says of each process's collections.
// Invariant: a line that is not whole is a failure, not a gap.
// Must not know: how it is collected; how the command line was parsed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gr::tool {

struct Collection {
    std::string reason;
    double began = 0;  // seconds, of the machine's clock
    double pause = 0;  // seconds, as the next three, which are parts of it
    double stopping = 0;
    double marking = 0;
    double sweeping = 0;
    double beside = 0;                // before the stop, while the program ran
    std::vector<double> root_pauses;  // meanwhile, for the roots
    std::uint64_t threads = 0;        // that were stopped
    std::uint64_t held_before = 0;    // bytes of units in use
    std::uint64_t held = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t live_blocks = 0;
    std::uint64_t freed_blocks = 0;

    [[nodiscard]] double longest_stop() const;  // seconds
};

struct ProcessCollections {
    std::uint64_t process = 0;
    std::vector<Collection> collections;  // at least one, in their order
};

// In the order of their first lines. Throws Failure.
[[nodiscard]] std::vector<ProcessCollections> read_collections(const std::string &path);

[[nodiscard]] std::string collections_text(const std::vector<ProcessCollections> &processes);
[[nodiscard]] std::string collections_json(const std::vector<ProcessCollections> &processes);

}  // namespace gr::tool
