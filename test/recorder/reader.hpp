// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a recorder for tests: makes the shared memory, runs a program with the library that records, and keeps what it tells.
// Invariant: does what include/granary/wire/recording.h says of the recorder, and checks what it says of the recorded.
// Must not know: the library's sources.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "granary/wire/recording.h"

struct Event {
    unsigned kind = 0;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    unsigned above = 0;  // the alignment's logarithm, or the advice
    std::uint64_t time = 0;
    std::string text;
    std::vector<std::uint64_t> stack;
    std::uint64_t ticks = 0;  // 0: not timed
};

struct Wanted {
    std::uint64_t ring_records = 4096;
    std::uint32_t rings = 64;
    std::uint32_t processes = 16;
    std::uint32_t flags = 0;
    std::uint32_t clock = GR_CLOCK_COUNTER;
    std::uint64_t stack_bytes = 0;
    std::uint32_t stack_calls = 16;
    std::uint32_t timed_calls = 0;
    unsigned pause_microseconds = 100;  // between two looks
    bool refuses = false;
    bool hides = false;                     // where the memory is
    std::uint64_t dies_after = UINT64_MAX;  // records
    bool lets_short_of_room = false;        // reads nothing until the process waits to leave
    std::string preload_behind;             // an allocator
    std::vector<std::string> environment;
};

struct Thread {
    std::size_t seen = 0;  // after so many others: numbers of processes begin anew
    unsigned process = 0;
    unsigned thread = 0;
    auto operator<=>(const Thread &) const = default;
};

struct Recorded {
    int status = -1;  // as of waitpid
    std::string output;
    std::vector<std::pair<unsigned, std::string>> processes;  // and their allocators, in the order of their arrival
    unsigned looks = 0;                                       // at what is mapped, that processes asked for
    unsigned left = 0;                                        // how many said that they leave
    std::map<Thread, std::vector<Event>> events;
    std::uint64_t lost_at_end = 0;  // and told by no record
    std::uint32_t rings_used = 0;
    std::vector<std::string> errors;  // against the protocol

    std::uint64_t count(unsigned kind) const;
};

Recorded record(const Wanted &wanted, const std::vector<std::string> &command);

// What the first thread told between the marks "begin" and "end" of the first process that has them.
std::vector<Event> between_marks(const Recorded &recorded);
// A line for each event as the programs of these tests print what they did.
std::string lines(const std::vector<Event> &events);
