// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/messages.hpp"

#include <stdlib.h>

#include <cstdio>
#include <cstring>

#include "platform/process.hpp"
#include "platform/thread.hpp"

namespace gr {
namespace {

constexpr std::size_t kLineBytes = 1024;

[[noreturn]] void end_after(const char *message) {
    now(GC_on_abort)(message);
    while (messages.loops_on_abort) platform::yield();
    if (message == nullptr) exit(EXIT_FAILURE);  // NOLINT(concurrency-mt-unsafe): as documented
    abort();
}

}  // namespace

constinit Messages messages{.warn = write_warning};

void write_warning(char *format, GC_word argument) {
    char line[kLineBytes];
    const int bytes = std::snprintf(&line[0], sizeof line, format, argument);
    if (bytes > 0) platform::write_all(messages.errors, &line[0], std::strlen(&line[0]));
}

void write_line(int fd, const Text &line) { platform::write_all(fd, line.data(), line.size()); }

bool print(int fd, const char *format, std::va_list arguments) {
    char line[kLineBytes];
    const int bytes = std::vsnprintf(&line[0], sizeof line, format, arguments);
    return bytes >= 0 && platform::write_all(fd, &line[0], std::strlen(&line[0])) == 0;
}

void write_last_words(const char *message) {
    if (message == nullptr) return;
    TextBuffer<kLineBytes> line;
    line << message << '\n';
    write_line(messages.errors, line);
}

void warn(const char *format, GC_word argument) { now(messages.warn)(const_cast<char *>(format), argument); }

void die(const char *message) { end_after(message); }
void die_without_memory() { end_after(nullptr); }

}  // namespace gr
