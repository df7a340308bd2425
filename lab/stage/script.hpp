// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a script, read: its threads, its options, and its steps in order, with repetitions written out.
// Invariant: a name is given to one block at a time, and freed after it was given: what breaks this is refused with its
//    line. A thread that ended does nothing more.
// Must not know: allocators, and how threads take turns.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace gr::lab::stage {

enum class Call { allocate, allocate_zeroed, reallocate, release, end, go };

struct Action {
    Call call;
    std::string name;  // of the block; none where the thread ends or goes on
    std::size_t bytes = 0;
};

struct Step {
    unsigned line;
    unsigned thread;
    std::string text;
    std::string note;
    std::vector<Action> actions;
    bool stops_at_lock = false;  // in the middle of its call, where it holds its first lock
};

struct Script {
    unsigned threads = 1;
    std::string options;
    std::vector<Step> steps;
};

struct ScriptError {
    unsigned line;
    std::string what;
};

std::variant<Script, ScriptError> read_script(const std::string &text);

}  // namespace gr::lab::stage
