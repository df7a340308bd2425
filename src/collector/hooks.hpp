// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a collection tells the program and asks it while it runs.
// Invariant: only `begin` and `end` may allocate from a kind. From `stopped` to `resuming` no other thread runs.
// Must not know: how objects are collected; which names programs call.
#pragma once

#include <cstdint>
#include <utility>

#include "base/bits.hpp"
#include "collector/finalizers.hpp"
#include "superblock/superblock.hpp"

namespace gr {

enum class Step : std::uint8_t { begin, stopping, stopped, marking, marked, sweeping, swept, resuming, resumed, end };

struct Hooks {
    void (*step)(Step step) = nullptr;
    // Asked before the stop. true: no collection.
    bool (*must_stop)() = nullptr;
    // Called instead of the scan of stacks and of the other memory that threads have. RootScanner::push_threads() does
    // that scan.
    void (*push_roots)() = nullptr;
    // nullptr: on.
    JavaFinalization (*finalizes_as_java)() = nullptr;
    // Called when all that stays is marked. What this hook marks and pushes stays, too.
    void (*reached)() = nullptr;
    // Whether one of these hooks or a mark procedure runs code of the program.
    bool (*calls_program)() = nullptr;
    // For a kind of Lifetime::held_back: the bits of the blocks in one word of a superblock's bitmap that are in use
    // and do not wait.
    Word (*in_use)(const Superblock *s, std::uint32_t word) = nullptr;
    // Called once, when a collection could not be done for the first time.
    void (*refused)(const char *why) = nullptr;
    // Called once, after the first collection in which a thread could not be stopped and ran on: nothing of it was
    // scanned.
    void (*unseen)(std::uint32_t thread) = nullptr;
    // Called after a collection that was done, with no lock held. Not called where the caller of collect() holds the
    // collector's lock.
    void (*after)() = nullptr;

    void tell(Step now) const {
        if (step != nullptr) step(now);
    }
    // 0: there was none.
    void tell_of_unseen(std::uint32_t thread) {
        if (thread != 0 && unseen != nullptr) std::exchange(unseen, nullptr)(thread);
    }
    bool is_forbidden() const { return must_stop != nullptr && must_stop(); }
    bool runs_program() const { return calls_program != nullptr && calls_program(); }
};

}  // namespace gr
