// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what libgc tells: warnings through the client's procedure, its log, and its last words.
// Invariant: allocates nothing; takes no lock; usable while the world stands.
// Must not know: what is told.
#pragma once

#include <cstdarg>

#include "base/text.hpp"
#include "libgc/variables.hpp"

namespace gr {

enum class Verbosity : unsigned char { silent, statistics, verbose };

struct Messages {
    GC_warn_proc warn;
    Verbosity verbosity = Verbosity::silent;
    int output = 1;
    int errors = 2;
    int log = 2;
    bool loops_on_abort = false;
};
extern Messages messages;

// The format takes one word and begins with "GC Warning: ", by which clients filter.
void warn(const char *format, GC_word argument);

// By the client's function, then abort.
[[noreturn]] void die(const char *message);
[[noreturn]] void die_without_memory();

// What they are at first.
void write_warning(char *format, GC_word argument);
void write_last_words(const char *message);

void write_line(int fd, const Text &line);
// At most so much of it as a line may have. false: it could not be written.
bool print(int fd, const char *format, std::va_list arguments);

}  // namespace gr
