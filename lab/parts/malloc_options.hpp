// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: MALLOC_OPTIONS, the letters in the environment that jemalloc took from phkmalloc, from one table.
// Invariant: a letter in upper case adds one to its option, in lower case it takes one away, within the option's
//    bounds. A letter that is none, or that goes beyond a number's bound, is told in one line and changes nothing. Who
//    runs with rights its user lacks reads no environment.
// Must not know: what an option changes.
#pragma once

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "parts/quantum_bins.hpp"
#include "platform/process.hpp"

namespace gr::lab {

// What has no meaning here is left out: A (misuse always ends the program), U (there is no ktrace), V (a program of today
// takes nullptr for "no memory").
struct MallocOptions {
    int hint = 0;
    int junk = 0;
    int chunk_shift = 21;
    int arena_doublings = 0;
    int statistics = 0;
    int quantum_shift = QuantumBins::kLeastQuantumShift;
    int limit_shift = 9;
    int fatal_exhaustion = 0;
    int zero = 0;

    static constexpr const char *kName = "MALLOC_OPTIONS";
    static constexpr unsigned char kJunk = 0xa5;
    static constexpr unsigned char kFreedJunk = 0x5a;

    // What its letters change.
    void read(const char *letters);
    void read_environment() {
        if (const char *const letters = platform::variable(kName)) read(letters);
    }

    // A block as it is handed out, given whether it is zero.
    void fill(void *block, std::size_t size, bool is_zero) const {
        if (junk != 0) std::memset(block, kJunk, size);
        if (zero != 0 && (junk != 0 || !is_zero)) std::memset(block, 0, size);
    }
    void fill_freed(void *block, std::size_t size) const {
        if (junk != 0) std::memset(block, kFreedJunk, size);
    }
};

struct MallocOption {
    char letter;
    int MallocOptions::*value;
    int least;
    int most;

    constexpr bool is_switch() const { return least == 0 && most == 1; }
};

inline constexpr MallocOption kMallocOptions[] = {
    {'H', &MallocOptions::hint, 0, 1},              // give the pages of a run that ends back to the kernel
    {'J', &MallocOptions::junk, 0, 1},              // fill blocks with 0xa5, and what is freed with 0x5a
    {'K', &MallocOptions::chunk_shift, 18, 30},     // chunks twice, or half, as large
    {'N', &MallocOptions::arena_doublings, -6, 6},  // twice, or half, as many arenas
    {'P', &MallocOptions::statistics, 0, 1},        // print statistics at exit
    {'Q', &MallocOptions::quantum_shift, 4, 10},    // the quantum twice, or half, as large
    {'S', &MallocOptions::limit_shift, 4, 11},      // the last multiple of the quantum twice, or half, as large
    {'X', &MallocOptions::fatal_exhaustion, 0, 1},  // end the program where there is no memory
    {'Z', &MallocOptions::zero, 0, 1},              // fill blocks with zeroes
};

[[gnu::cold]] inline void tell_of_letter(char letter, const char *what) {
    TextBuffer<160> line;
    line << "granary: lab: ignoring '" << (letter < ' ' || letter > '~' ? '?' : letter) << "' in "
         << MallocOptions::kName << ": it " << what << "; the options are ";
    for (const MallocOption &option : kMallocOptions) line << option.letter;
    line << '\n';
    platform::write_all(2, line.data(), line.size());
}

inline void MallocOptions::read(const char *letters) {
    for (; *letters != '\0'; ++letters) {
        const bool is_lower = *letters >= 'a' && *letters <= 'z';
        const char upper = is_lower ? static_cast<char>(*letters - 'a' + 'A') : *letters;
        const auto *const found = std::ranges::find(kMallocOptions, upper, &MallocOption::letter);
        if (found == std::end(kMallocOptions)) {
            tell_of_letter(*letters, "is not an option");
            continue;
        }
        const int wanted = this->*found->value + (is_lower ? -1 : 1);
        if (wanted >= found->least && wanted <= found->most) {
            this->*found->value = wanted;
        } else if (!found->is_switch()) {
            tell_of_letter(*letters, "exceeds the option's bound");
        }
    }
}

// X: what a program that never looks at nullptr asks for.
[[noreturn, gnu::cold, gnu::noinline]] inline void die_of_exhaustion(std::size_t size) {
    TextBuffer<160> line;
    line << "granary: lab: no memory for " << size << " bytes; aborting, because " << MallocOptions::kName
         << " has X\n";
    platform::fatal(line.data(), line.size());
}

}  // namespace gr::lab
