// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: looks inside Granary after each step: its own validity check (debug builds) and its public statistics.
// Invariant: the counting equation holds, and live bytes change by exactly what the model allocates and frees.
// Must not know: Granary's sources; it reads granary.h and gr_debug_check alone.
#pragma once

#include <dlfcn.h>

#include <cinttypes>
#include <cstdio>

#include "granary/granary.h"
#include "inspector.hpp"

namespace gr::fuzz {

class Internals : public Inspector {
  public:
    bool present() const { return statistics_ != nullptr; }
    // False in release builds; then the statistics alone are checked.
    bool whole() const { return debug_check_ != nullptr; }

    void rebase(std::size_t live_bytes) override { others_ = snapshot().live_bytes - live_bytes; }

    const char *inspect(std::size_t live_bytes) override {
        if (debug_check_ != nullptr) {
            if (const char *message = debug_check_()) return message;
        }
        const gr_statistics now = snapshot();
        const char *wrong = check_equation(now);
        return wrong != nullptr ? wrong : check_live(now, live_bytes);
    }

  private:
    using Statistics = int (*)(gr_statistics *);
    using DebugCheck = const char *(*)();

    template <typename Function>
    static Function find(const char *name) {
        return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    }

    gr_statistics snapshot() const {
        gr_statistics out{};
        out.size = sizeof out;
        if (statistics_(&out) != 0) out = gr_statistics{};  // all zero: check_live then fails
        return out;
    }

    // Runs and direct mappings are live but lie in no superblock.
    const char *check_equation(const gr_statistics &s) {
        const std::uint64_t small = s.live_bytes - s.run_bytes - s.direct_bytes;
        if (s.block_bytes == small + s.magazine_bytes + s.remote_bytes + s.free_bytes) return nullptr;
        std::snprintf(message_, sizeof message_,
                      "counting equation: %" PRIu64 " bytes of blocks, but %" PRIu64 " live + %" PRIu64
                      " in magazines + %" PRIu64 " remote + %" PRIu64 " free",
                      s.block_bytes, small, s.magazine_bytes, s.remote_bytes, s.free_bytes);
        return message_;
    }

    const char *check_live(const gr_statistics &s, std::size_t live_bytes) {
        if (s.live_bytes == others_ + live_bytes) return nullptr;
        std::snprintf(message_, sizeof message_,
                      "live bytes: the statistics tell %" PRIu64 ", the model holds %zu besides %" PRIu64 " of others",
                      s.live_bytes, live_bytes, others_);
        return message_;
    }

    Statistics statistics_ = find<Statistics>("gr_statistics_get");
    DebugCheck debug_check_ = find<DebugCheck>("gr_debug_check");
    std::uint64_t others_ = 0;
    char message_[320] = "";
};

}  // namespace gr::fuzz
