// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's messages: warnings through the client's procedure, the log, and the last message before an abort.
// Invariant: the functions allocate nothing and take no lock, so they may be called while all threads are stopped.
// Must not know: what the messages say.
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

// The format takes one word and begins with "GC Warning: ", because clients filter by this prefix.
void warn(const char *format, GC_word argument);

// Calls the client's function, then aborts.
[[noreturn]] void die(const char *message);
[[noreturn]] void die_without_memory();

// The procedures before a client sets others.
void write_warning(char *format, GC_word argument);
void write_last_words(const char *message);

void write_line(int fd, const Text &line);
// Writes at most as much as a line may have. false: the line could not be written.
bool print(int fd, const char *format, std::va_list arguments);

}  // namespace gr
