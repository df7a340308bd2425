// SPDX-License-Identifier: Apache-2.0 OR MIT
// The tests compare the exact words.

#include "heap/misuse.hpp"

#include <string_view>

#include "base/text.hpp"
#include "platform/process.hpp"
#include "platform/public_names.hpp"

namespace gr {
namespace {

using Line = TextBuffer<256>;

[[noreturn]] void die(Line &line) {
    line << "; aborting\n";
    platform::fatal(line.data(), line.size());
}

// The prefix of a libc function's name, as the program called the function. Granary's own functions carry their prefix
// already.
const char *prefix_of(const char *function) {
    return platform::is_prefixed() && !std::string_view(function).starts_with("gr_") ? "gr_" : "";
}

void begin(Line &line, const char *function, const void *p) {
    line << "granary: " << prefix_of(function) << function << '(' << p << "): ";
}

}  // namespace

void die_foreign(const char *function, const void *p) {
    Line line;
    begin(line, function, p);
    line << "not a block of this heap: a foreign pointer, or a large block that is already free";
    die(line);
}

void die_interior(const char *function, const void *p, const void *start, std::size_t size) {
    Line line;
    begin(line, function, p);
    line << "inside a block: it starts at " << start << " and has " << size << " bytes";
    die(line);
}

void die_free(const char *function, const void *p, std::size_t size) {
    Line line;
    begin(line, function, p);
    line << "a free block of " << size << " bytes: it was freed before, or never handed out";
    die(line);
}

void die_twice(const char *function, const void *p, std::size_t size) {
    Line line;
    begin(line, function, p);
    line << "freed twice, a block of " << size << " bytes";
    die(line);
}

void die_of_malloc(const char *function, const void *p) {
    Line line;
    begin(line, function, p);
    const char *const prefix = prefix_of("free");
    line << "not a block of this heap but of " << prefix << "malloc: release it with " << prefix << "free";
    die(line);
}

void die_of_first_class(const char *function, const void *p) {
    Line line;
    begin(line, function, p);
    line << "not a block of this heap but of another heap: release it with gr_heap_free and that heap";
    die(line);
}

void die_no_heap(const char *function, const void *heap) {
    Line line;
    begin(line, function, heap);
    line << "not a heap that gr_heap_new returned, or already destroyed";
    die(line);
}

void die_interrupted(const char *function, const void *heap) {
    Line line;
    begin(line, function, heap);
    line << "called by a signal handler that interrupted the allocator";
    die(line);
}

}  // namespace gr
