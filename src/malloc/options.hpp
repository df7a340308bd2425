// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the options, GRANARY_<NAME> in the environment, from one table that also prints them.
// Invariant: read once at start-up; a set-uid program's environment is ignored; a bad value warns once and changes
//            nothing.
// Must not know: what an option changes.
#pragma once

#include <cstddef>

#include "base/text.hpp"

namespace gr {

enum class StatisticsMode : std::size_t { off, text, json };

// What becomes of libraries that the program opens with RTLD_DEEPBIND: they get this malloc and all else as asked; the flag
// is left out; nothing is done.
enum class DeepBinding : std::size_t { mend, drop, keep };

// What free does in libgranary-gcmalloc.so.
enum class FreeMode : std::size_t { now, ignore };

// One number each: bytes, 0 or 1, or the index of a word.
struct Options {
    std::size_t stats;
    std::size_t verbose;
    std::size_t rseq;
    std::size_t region;  // 0: chosen from the machine's memory
    std::size_t retain;
    std::size_t breath;
    std::size_t direct;
    std::size_t magazine;
    std::size_t soft_limit;  // 0: none
    std::size_t hard_limit;  // 0: none; read with the soft one
    std::size_t huge_pages;
    std::size_t background;
    std::size_t deep_binding;
    std::size_t profile;         // 0: none; else bytes between two samples
    std::size_t profile_signal;  // 0: none; read with the other
    std::size_t profile_folder;  // the address of a path; 0: where the program runs
    // Of the collector's libraries only.
    std::size_t collections;  // the address of a path; 0: none
    // Of libgranary-gcmalloc.so only.
    std::size_t free;
    std::size_t quarantine;
    std::size_t leaks;  // the address of a path; 0: none

    static Options defaults();
};

// What "auto" stands for in a limit; kNoMemoryLimit: none.
using FindLimit = std::size_t (*)();

// Overwrites what the environment names; warnings go to stderr.
void read_options(const char *const *environment, Options *options, FindLimit find);

// A line for each, or a JSON array; `options` must have been given to read_options before.
void print_options(const Options &options, bool json, void (*put)(void *sink, const Text &line), void *sink);

// The value as text; false: no such option. The name without GRANARY_, in any case.
bool option_value(const Options &options, const char *name, Text *value);

}  // namespace gr
