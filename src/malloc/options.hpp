// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the options of the library: GRANARY_<NAME> in the environment, read, printed and looked up by one table.
// Invariant: options are read once at start-up. The caller reads none in a set-user-ID program. A value that cannot be
//    parsed changes nothing and gives one warning. An option's former name still works and gives one line.
// Must not know: what an option changes.
#pragma once

#include <cstddef>

#include "base/text.hpp"

namespace gr {

enum class StatisticsMode : std::size_t { off, text, json };

// What happens to libraries that the program opens with RTLD_DEEPBIND. mend: they get this malloc, all other symbols are
// bound as the flag says. drop: the flag is removed. keep: nothing is done.
enum class DeepBinding : std::size_t { mend, drop, keep };

// What free does in libgranary-gcmalloc.so.
enum class FreeMode : std::size_t { now, ignore };

// One number for each option: bytes, 0 or 1, the index of a word, or the address of a path.
struct Options {
    std::size_t stats;
    std::size_t verbose;
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
    std::size_t profile;         // 0: none; else mean bytes between two samples
    std::size_t profile_signal;  // 0: none; the second value of the same option
    std::size_t profile_folder;  // the address of a path; 0: the current folder
    // For the collector's libraries only.
    std::size_t collections;  // the address of a path; 0: none
    // For libgranary-gcmalloc.so only.
    std::size_t free;
    std::size_t quarantine;
    std::size_t leaks;  // the address of a path; 0: none

    static Options defaults();
};

// Finds the value of "auto" in a limit; kNoMemoryLimit: there is none.
using FindLimit = std::size_t (*)();

// Overwrites the options that the environment sets; warnings go to standard error.
void read_options(const char *const *environment, Options *options, FindLimit find);

// Prints one line for each option, or a JSON array. `options` must have been given to read_options before.
void print_options(const Options &options, bool json, void (*put)(void *sink, const Text &line), void *sink);

// Writes the value as text. The name has no GRANARY_, may be a former name, and may be in any case. false: no such option.
bool option_value(const Options &options, const char *name, Text *value);

}  // namespace gr
