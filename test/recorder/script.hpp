// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how the programs of these tests tell what they did: a line for each record that there must be.
// Invariant: allocates nothing, so that nothing is recorded of it.
// Must not know: who compares.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "granary/mark.h"
#include "granary/wire/recording.h"

class Script {
  public:
    static void tell(unsigned kind, const volatile void *address, std::uint64_t size, unsigned above = 0) {
        used_ += static_cast<std::size_t>(
            std::snprintf(&text_[used_], sizeof text_ - used_, "%u %llx %llu %u\n", kind,
                          static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address)),
                          static_cast<unsigned long long>(size), above));
    }
    static void begin() { gr_mark("begin"); }
    // Ends the script, and says it.
    static void end() {
        gr_mark("end");
        for (std::size_t at = 0; at < used_;) {
            const ssize_t written = write(1, &text_[at], used_ - at);
            if (written <= 0) _exit(9);
            at += static_cast<std::size_t>(written);
        }
    }

  private:
    static inline char text_[1 << 16];
    static inline std::size_t used_ = 0;
};
