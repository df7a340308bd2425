// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the rows of the table of options, and what the code that reads and sets options asks of a row.
// Invariant: every option is one row; a row without an effect is read at the start only.
// Must not know: where values come from.
#pragma once

#include <span>

#include "instance/options.hpp"

namespace gr {

inline constexpr const char *kOptionPrefix = "GRANARY_";  // begins an option's name in the environment

enum class OptionKind : unsigned char { bytes, seconds, flag, on_off, words, limits, path, profile };

// The source that a value came from.
enum class OptionOrigin : unsigned char { standard, program, file, environment, run_time };

// Applies a new value while the program runs. Returns 0, or an errno value if nothing was changed. Called by one thread
// at a time, which holds the lock of the list of instances. `wanted` has the new value.
using OptionEffect = int (*)(const Options &wanted);

// The numbers of one value; the row says how many there are.
struct OptionNumbers {
    std::size_t first = 0;
    std::size_t second = 0;
    std::size_t third = 0;
};

struct OptionRow {
    const char *name;
    OptionKind kind;
    std::size_t Options::*value;
    std::size_t fallback;
    OptionEffect effect;  // nullptr: the option cannot be changed while the program runs
    const char *unit;
    const char *meaning;
    std::size_t Options::*second = nullptr;  // the second number of several
    const char *const *words = nullptr;      // the value is an index into these; nullptr ends them
    const char *former = nullptr;            // the option's name in earlier versions, which is still read
    std::size_t Options::*third = nullptr;

    // false: the text is no value of this option.
    bool parse(const char *text, FindLimit find, OptionNumbers *numbers) const;
    // store(where, number) for each number that a value of this option has.
    template <class Store>
    void for_each_number(const OptionNumbers &numbers, Store store) const {
        store(value, numbers.first);
        if (second != nullptr) store(second, numbers.second);
        if (third != nullptr) store(third, numbers.third);
    }
};

std::span<const OptionRow> option_rows();
// Finds an option by its present or former name without GRANARY_, in any case. nullptr: there is no such option.
const OptionRow *find_option(const char *name);

// Called by the code that reads or sets the option. Any thread may read the origin.
void set_origin(const OptionRow &row, OptionOrigin origin);

// Whether `text` begins with `word`, in any case; then *rest is what follows.
bool starts_with(const char *text, const char *word, const char **rest);

}  // namespace gr
