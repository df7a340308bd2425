// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of a process that ran before this library was loaded, which are to lead to this library's.
// Invariant: a block that was allocated by a rebound function may be freed by the allocator's own, and the other way
//    round. The allocator's calls of itself are left alone.
// Must not know: the recording.
#pragma once

#include <cstddef>
#include <span>

#include "platform/ipc/bound_words.hpp"
#include "platform/ipc/loaded_object.hpp"

namespace gr {

class Rebound {
  public:
    constexpr Rebound() = default;

    // false: no module defines malloc and free for others.
    bool find();
    // From then on the calls of the program's modules lead to this library, until undo().
    void begin();
    // Includes what was opened since.
    void include_new();
    void undo();

  private:
    static constexpr std::size_t kMost = 64;

    void add(const platform::Rebinding &rebinding);
    void add(const char *name, void *to, const platform::LoadedObject *left_alone);
    void add_own(const char *name, const platform::LoadedObject *left_alone);
    void add_operators();

    std::size_t count_ = 0;
    platform::Rebinding list_[kMost];
};

inline constinit Rebound rebound;

// C++'s operators over the allocator's malloc and free, for a process whose own operators are the allocator's.
struct Operator {
    const char *name;
    void *function;
};
std::span<const Operator> operators();

}  // namespace gr
