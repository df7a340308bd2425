// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: environment.hpp: a table of the variables' names, the form of their values, and what each does.
// Invariant: a variable that tunes something that this library does not have is in the table, too, without effect.
// Must not know: when the variables are read.
#include "libgc/environment.hpp"

#include <fcntl.h>
#include <stdlib.h>

#include <cstring>

#include "libgc/callbacks.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"
#include "libgc/settings.hpp"
#include "libgc/statistics.hpp"
#include "libgc/variables.hpp"

namespace gr {
namespace {

enum class Form : unsigned char {
    presence,  // 1, whatever the value is
    flag,      // 0 for "0", else 1
    number,    // greater than 0
    count,     // 0 and more
    bytes,     // with k, M or G
    path,
    nothing,  // the variable is read elsewhere, or has no effect
};

struct Row {
    const char *name;
    Form form;
    void (*apply)(std::size_t value, const char *text);
};

void open_log(std::size_t, const char *path) {
    constexpr int kMode = 0644;
    const int fd = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, kMode);
    if (fd < 0) {
        TextBuffer<512> line;
        line << "granary: libgc: cannot open the log file; check GC_LOG_FILE: " << path << '\n';
        return write_line(messages.errors, line);
    }
    messages.log = fd;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): at the start
    const char *const only = getenv("GC_ONLY_LOG_TO_FILE");
    if (only == nullptr || std::strcmp(only, "0") == 0) messages.output = messages.errors = fd;
}

void set_markers(std::size_t markers, const char *) {
    const bool is_possible = markers >= 1 && markers <= kMostMarkers;
    if (!is_possible) warn("GC Warning: GC_MARKERS is out of range; using %lu markers\n", kMostMarkers);
    settings.markers = is_possible ? static_cast<unsigned>(markers) : kMostMarkers;
}

constexpr Row kTable[] = {
    {"GC_INITIAL_HEAP_SIZE", Form::bytes, [](std::size_t n, const char *) { expand_heap(n); }},
    {"GC_MAXIMUM_HEAP_SIZE", Form::bytes,
     [](std::size_t n, const char *) {
         limit_heap(n);
         constexpr GC_word kRetries = 2;
         if (GC_max_retries == 0) GC_max_retries = kRetries;
     }},
    {"GC_FREE_SPACE_DIVISOR", Form::number, [](std::size_t n, const char *) { GC_free_space_divisor = n; }},
    {"GC_FULL_FREQUENCY", Form::number, [](std::size_t n, const char *) { GC_full_freq = static_cast<int>(n); }},
    {"GC_PAUSE_TIME_TARGET", Form::number, [](std::size_t n, const char *) { GC_time_limit = n; }},
    {"GC_DONT_GC", Form::presence, [](std::size_t, const char *) { GC_dont_gc = 1; }},
    {"GC_USE_ENTIRE_HEAP", Form::flag, [](std::size_t n, const char *) { GC_use_entire_heap = static_cast<int>(n); }},
    {"GC_ALL_INTERIOR_POINTERS", Form::presence, [](std::size_t, const char *) { GC_all_interior_pointers = 1; }},
    {"GC_MARKERS", Form::count, set_markers},
    {"GC_FORCE_UNMAP_ON_GCOLLECT", Form::flag, [](std::size_t n, const char *) { settings.gives_back = n != 0; }},
    {"GC_PRINT_STATS", Form::presence, [](std::size_t, const char *) { messages.verbosity = Verbosity::statistics; }},
    {"GC_PRINT_VERBOSE_STATS", Form::presence,
     [](std::size_t, const char *) { messages.verbosity = Verbosity::verbose; }},
    {"GC_LOG_FILE", Form::path, open_log},
    {"GC_DUMP_REGULARLY", Form::presence, [](std::size_t, const char *) { settings.prints_regularly = true; }},
    {"GC_FIND_LEAK", Form::presence, [](std::size_t, const char *) { GC_find_leak = 1; }},
    {"GC_LOOP_ON_ABORT", Form::presence, [](std::size_t, const char *) { messages.loops_on_abort = true; }},
    {"GC_IGNORE_GCJ_INFO", Form::presence, [](std::size_t, const char *) { settings.ignores_gcj = true; }},
    {"GC_UNMAP_THRESHOLD", Form::count, nullptr},
    {"GC_NPROCS", Form::number, nullptr},
    {"GC_LARGE_ALLOC_WARN_INTERVAL", Form::number, nullptr},
    {"GC_RETRY_SIGNALS", Form::nothing, nullptr},
    {"GC_ENABLE_INCREMENTAL", Form::presence, [](std::size_t, const char *) { settings.begins_incremental = true; }},
    {"GC_ENABLE_GENERATIONAL", Form::presence, [](std::size_t, const char *) { settings.begins_generational = true; }},
    {"GC_DISABLE_INCREMENTAL", Form::presence, [](std::size_t, const char *) { settings.forbids_incremental = true; }},
    {"GC_USE_GETWRITEWATCH", Form::nothing, nullptr},
    {"GC_ONLY_LOG_TO_FILE", Form::nothing, nullptr},
    {"GC_PRINT_ADDRESS_MAP", Form::nothing, nullptr},
    {"GC_FINDLEAK_DELAY_FREE", Form::nothing, nullptr},
    {"GC_ABORT_ON_LEAK", Form::nothing, nullptr},
    {"GC_NO_BLACKLIST_WARNING", Form::nothing, nullptr},
    {"GC_PRINT_BACK_HEIGHT", Form::nothing, nullptr},
    {"GC_TRACE", Form::nothing, nullptr},
};

unsigned suffix_shift(char suffix) {
    switch (suffix) {
        case 'k':
        case 'K':
            return 10;
        case 'm':
        case 'M':
            return 20;
        case 'g':
        case 'G':
            return 30;
        default:
            return 0;
    }
}

bool parse_number(const char *text, bool with_suffix, std::size_t *value) {
    if (*text < '0' || *text > '9') return false;
    for (*value = 0; *text >= '0' && *text <= '9'; ++text) {
        if (__builtin_mul_overflow(*value, std::size_t{10}, value)) return false;
        if (__builtin_add_overflow(*value, static_cast<std::size_t>(*text - '0'), value)) return false;
    }
    const unsigned shift = with_suffix ? suffix_shift(*text) : 0;
    if (__builtin_mul_overflow(*value, std::size_t{1} << shift, value)) return false;
    return text[shift != 0 ? 1 : 0] == '\0';
}

bool parse(Form form, const char *text, std::size_t *value) {
    switch (form) {
        case Form::flag:
            *value = std::strcmp(text, "0") == 0 ? 0 : 1;
            return true;
        case Form::number:
            return parse_number(text, false, value) && *value > 0;
        case Form::count:
            return parse_number(text, false, value);
        case Form::bytes:
            return parse_number(text, true, value);
        case Form::presence:
        case Form::path:
        case Form::nothing:
            return true;
    }
    return false;
}

}  // namespace

void read_environment() {
    for (const Row &row : kTable) {
        const char *const text = getenv(row.name);  // NOLINT(concurrency-mt-unsafe): at the start
        std::size_t value = 0;
        if (text == nullptr) continue;
        if (!parse(row.form, text, &value)) {
            TextBuffer<512> line;
            line << "granary: libgc: ignoring " << row.name << ", whose value is not valid: " << text << '\n';
            write_line(messages.errors, line);
        } else if (row.apply != nullptr) {
            row.apply(value, text);
        }
    }
}

void expand_heap(std::size_t bytes) {
    const Locked locked;
    promise(bytes);
    collector.pace().set_size(heap_bytes());
    tell_of_size();
}

void limit_heap(std::size_t bytes) {
    collector.pace().most.store(bytes == 0 ? SIZE_MAX : bytes, std::memory_order_relaxed);
}

}  // namespace gr
