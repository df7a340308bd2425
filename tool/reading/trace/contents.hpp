// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a trace tells besides events: the program, its threads, libraries and marks, what its memory and time
//    were.
// Invariant: plain data; what was not known is empty or 0.
// Must not know: how it lies in a file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "reading/trace/event.hpp"

namespace gr::trace {

enum class Stacks : std::uint8_t { none, sampled, all };

struct Start {
    std::string program;  // its file
    std::vector<std::string> arguments;
    std::string allocator;  // the file whose malloc served it
    std::int64_t process = 0;
    std::int64_t parent = 0;
    std::int64_t began_nanoseconds = 0;  // of CLOCK_REALTIME, at Time 0
    std::uint64_t page_bytes = 0;        // of a trace that was read: a power of two
    std::uint64_t physical_bytes = 0;    // of the machine
    std::uint32_t cpus = 0;
    std::string machine;   // the CPU's name, the kernel's
    std::string recorder;  // the version of Granary that recorded
    Stacks stacks = Stacks::none;
    std::uint64_t stack_bytes = 0;  // kSampled: one for as many bytes, in the mean
    std::uint32_t timed_calls = 0;  // one call in so many was timed; 0: none
    double clock_nanoseconds = 0;   // that reading the clock takes, which each call's time contains
    bool lossy = false;
    bool ran_before = false;  // the recorder came to a program that ran, whose earlier blocks are not known
};

struct Thread {
    ThreadNumber number{};
    std::int64_t id = 0;  // the kernel's
    std::string name;
    Time first;
};

// A piece of a file that was mapped and may hold code.
struct Module {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;  // of begin in the file
    std::string path;
    std::string build_id;  // hexadecimal
};
struct ModuleList {  // as it was at that moment
    Time time;
    std::vector<Module> modules;
};

// What no address of code says of a node in the tree of stacks: calls that were left out there, or a function of a
// language that an interpreter runs. Nodes refer to it by kFirstPlace + number in the place of their address.
struct Place {
    std::uint32_t number = 0;
    std::uint64_t least_calls = 0;  // that were left out, in the stacks through this node
    std::uint64_t most_calls = 0;   // 0: none was
    std::string function;
    std::string file;  // of the source
    int line = 0;
};
// Addresses from here to kFirstPlace are no addresses of the program: each stands for one at which code of several files
// lay, one after the other.
inline constexpr std::uint64_t kFirstStandIn = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kFirstPlace = std::uint64_t{1} << 63;  // no code of a program lies there

// A function that the program made while it ran, which lies in no file.
struct MadeFunction {
    std::uint64_t address = 0;  // of a node in the tree of stacks
    std::string name;
};

struct Mark {
    Time time;
    ThreadNumber thread{};
    std::string text;
};

struct Sample {
    Time time;
    std::uint64_t resident_bytes = 0;
    std::uint64_t anonymous_bytes = 0;
    std::uint64_t lazy_free_bytes = 0;
    std::uint64_t huge_bytes = 0;
    std::uint64_t user_microseconds = 0;
    std::uint64_t system_microseconds = 0;
    std::uint64_t faults = 0;
    std::uint64_t threads = 0;

    // The kernel splits the sum of user and system time anew at each reading, so each part may fall. The sum is kept, and
    // the parts are moved so that none is less than in the sample before.
    void keep_times_from_falling(const Sample &before) {
        constexpr std::uint64_t kMost = std::uint64_t{1} << 62;  // so that no sum overflows
        const std::uint64_t sum_before = before.user_microseconds + before.system_microseconds;
        system_microseconds = std::min(system_microseconds, kMost);
        const std::uint64_t sum = std::max(std::min(user_microseconds, kMost) + system_microseconds, sum_before);
        system_microseconds =
            std::clamp(system_microseconds, before.system_microseconds, sum - before.user_microseconds);
        user_microseconds = sum - system_microseconds;
    }
};

// What the program and its libraries asked of the kernel, the allocator apart.
enum class RequestKind : std::uint8_t {
    map = GR_RECORD_OWN_MAP,
    unmap = GR_RECORD_OWN_UNMAP,
    advise = GR_RECORD_OWN_ADVISE,
    brk = GR_RECORD_OWN_BREAK,
};
constexpr bool is_request(std::uint64_t number) { return number >= GR_RECORD_OWN_MAP && number <= GR_RECORD_OWN_BREAK; }
struct Request {
    Time time;
    ThreadNumber thread{};
    RequestKind kind{};
    std::uint8_t detail = 0;    // of map the GR_RECORD_MAP_ bits, of advise the advice
    std::uint64_t address = 0;  // of brk the old end
    std::uint64_t size = 0;     // of brk the bytes by which it grew, modulo 2^64
    StackNumber stack = StackNumber::none;

    bool operator==(const Request &) const = default;
};

struct PageRun {
    std::uint64_t begin = 0;  // an address
    std::uint64_t bytes = 0;
    bool operator==(const PageRun &) const = default;
};
struct Resident {
    Time time;
    std::uint32_t page_bytes = 0;
    std::vector<PageRun> runs;  // by address; none touches another
};

// What resident memory is for. The numbers are those of the format.
enum class MemoryKind : std::uint8_t {
    heap = 1,       // the allocator's, in use or not
    own = 2,        // that the program or a library mapped, or got from the program's break
    stack = 3,      // of threads
    code = 4,       // pages of the program's file and of libraries
    data = 5,       // variables of the program and of libraries
    file = 6,       // other mapped files
    shared = 7,     // with other processes, without a file on a disk
    recorder = 8,   // the rings and the library that record
    not_known = 9,  // private memory that none of the others explains
    earlier = 10,   // private memory that was mapped before the recording began; what for is not known
};
inline constexpr unsigned kMemoryKinds = 11;
// Memory of one kind that has the same name, and was mapped by the same stack.
struct MemoryPart {
    MemoryKind kind{};
    std::uint32_t name = 0;  // Trace::memory_names(), from 1; 0: none
    StackNumber stack = StackNumber::none;
    std::uint64_t mappings = 0;
    std::uint64_t bytes = 0;  // of addresses
    std::uint64_t resident = 0;

    bool operator==(const MemoryPart &) const = default;
};
struct MemoryLook {
    Time time;
    std::uint64_t page_tables = 0;  // the kernel's, no part of what is resident
    std::vector<MemoryPart> parts;
};

// A process that this one made by fork, or became by exec, and its trace beside this one.
struct Relative {
    Time time;
    std::int64_t process = 0;
    bool is_same_process = false;  // by exec
    std::string file;              // its name, without a folder
};

struct End {
    Time time;
    enum class Reason : std::uint8_t { exit, signal, exec, unknown } reason = Reason::unknown;
    int status = 0;            // the exit code, or the signal's number
    std::uint64_t events = 0;  // that were written
    std::uint64_t lost = 0;
    double stack_nanoseconds = 0;  // that taking a stack took the program, in the mean; 0: none was, or it is not known
};

struct StackNode {
    StackNumber parent = StackNumber::none;  // its caller's
    std::uint64_t address = 0;               // the one behind the call; from kFirstPlace: a Place
};

// A function whose code lies at a place, and the line in it.
struct NamedCall {
    std::string function;
    std::string file;  // of the source
    std::uint32_t line = 0;
};
// A place in a file of code: functions, the outermost first, each with those that the compiler put into it.
struct NamedPlace {
    std::string path;
    std::string build_id;
    std::uint64_t offset = 0;  // in the file, of the address behind the call
    std::vector<NamedCall> calls;
};

// All places that a trace names. Texts are told by their number; 0 is the empty text.
struct Symbols {
    struct File {
        std::uint32_t path = 0;
        std::uint32_t build_id = 0;
    };
    struct Place {
        std::uint32_t file = 0;  // in files
        std::uint64_t offset = 0;
        std::uint32_t first_call = 0;  // in calls
        std::uint32_t calls = 0;
    };
    struct Call {
        std::uint32_t function = 0;
        std::uint32_t file = 0;
        std::uint32_t line = 0;
    };

    std::vector<std::string> texts{std::string()};
    std::vector<File> files;
    std::vector<Place> places;
    std::vector<Call> calls;
    std::uint64_t text_bytes = 0;
    std::uint64_t bytes_of_calls = 0;  // of the texts of all calls
};

}  // namespace gr::trace
