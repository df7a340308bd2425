// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the options of the library, read, printed, looked up and changed by one table. They come from the program, a
//    file, the environment (GRANARY_<NAME>) and gr_option_set; what comes later in this list overrides what comes
//    before.
// Invariant: all but the last are read once at start-up. A value that cannot be parsed changes nothing and gives one
//    warning. An option's former name still works and gives one line.
// Must not know: what an option changes.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace gr {

enum class StatisticsMode : std::size_t { off, text, json, prometheus };

// What happens to libraries that the program opens with RTLD_DEEPBIND. mend: they get this malloc, all other symbols
// are bound as the flag says. drop: the flag is removed. keep: nothing is done.
enum class DeepBinding : std::size_t { mend, drop, keep };

// Which blocks are filled with junk, to find bugs: when they are handed out, when they are freed.
enum class JunkMode : std::size_t { off, allocate, free, all };

// What free does in libgranary-gcmalloc.so.
enum class FreeMode : std::size_t { now, ignore };

// How far a collected heap grows between two collections (collector/pace_policy.hpp), and the names of the policies.
enum class GcPolicy : std::size_t { proportional, growable, fixed, square_root };
inline constexpr const char *kGcPolicyWords[] = {"proportional", "growable", "fixed", "square-root", nullptr};
inline constexpr std::size_t kGcPolicies = sizeof kGcPolicyWords / sizeof *kGcPolicyWords - 1;

inline constexpr std::size_t kProfileAtExit = 256;  // above every signal

// One number for each option: bytes, seconds, 0 or 1, the index of a word, or the address of a path.
struct Options {
    std::size_t stats;
    std::size_t stats_file;      // the address of a path; 0: none
    std::size_t stats_interval;  // seconds
    std::size_t verbose;
    std::size_t options_file;  // the address of a path: the file that was read; 0: none
    std::size_t rseq;
    std::size_t region;  // 0: derived from the physical memory
    std::size_t retain;
    std::size_t reuse;
    std::size_t direct;
    std::size_t magazine;
    std::size_t soft_limit;  // 0: none
    std::size_t hard_limit;  // 0: none; the second number of the same option
    std::size_t huge_pages;
    std::size_t background;
    std::size_t deep_binding;
    std::size_t junk;
    std::size_t zero;
    std::size_t profile;          // 0: none; else mean bytes between two samples
    std::size_t profile_moments;  // when a profile is written: a signal's number, or 0, plus kProfileAtExit
    std::size_t profile_every;    // bytes allocated between two profiles; 0: they are not counted
    std::size_t profile_folder;   // the address of a path; 0: the current folder
    // For the collector's libraries only.
    std::size_t collections;  // the address of a path; 0: none
    std::size_t gc_policy;
    std::size_t gc_tracer;
    // For libgranary-gcmalloc.so only.
    std::size_t free;
    std::size_t quarantine;
    std::size_t leaks;  // the address of a path; 0: none

    static Options defaults();
};

// These two read and change the options that gr_option_set may change. The acquire pairs with the release: a thread
// that sees the new value also sees what was prepared for it.
inline std::size_t load_option(const std::size_t &option) {
    return std::atomic_ref(const_cast<std::size_t &>(option)).load(std::memory_order_acquire);
}
inline void store_option(std::size_t &option, std::size_t value) {
    std::atomic_ref(option).store(value, std::memory_order_release);
}

// Finds the value of "auto" in a limit; kNoMemoryLimit: there is none.
using FindLimit = std::size_t (*)();

// Where options are read from; nullptr: not from there.
struct OptionSources {
    const char *program = nullptr;  // settings as in a file, or separated by semicolons
    const char *file = nullptr;     // the one that is read if nobody names another; nullptr: no file is read at all
    const char *const *environment = nullptr;
    FindLimit find = nullptr;

    // The sources of this process. A set-user-ID program has only its own text, because its user must not decide.
    static OptionSources of_process();
};

// Overwrites the options that the sources set; warnings go to standard error. The texts of the program and of the file
// are kept, for the paths in them.
void read_options(const OptionSources &sources, Options *options);
// When the program is relocated: warns if its options could not be read before.
void tell_unread_options();

// Prints one line for each option, or a JSON array; `put` gets each line in one piece or more. `options` must have been given to read_options before.
void print_options(const Options &options, bool json, void (*put)(void *sink, const Text &line), void *sink);

// Room for every value as text, except for paths.
using OptionText = TextBuffer<64>;

// The value as text: a path where it lies, any other value as it is written to `room`. The name has no GRANARY_, may be a
// former name, and may be in any case. No value: no such option.
std::optional<std::string_view> option_value(const Options &options, const char *name, OptionText *room);

// What gr_option_set does: 0, or an errno value.
int set_option(const char *name, const char *value);

}  // namespace gr
