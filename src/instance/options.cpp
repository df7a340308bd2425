// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "instance/options.hpp"

#include <atomic>
#include <csignal>
#include <iterator>

#include "base/config.hpp"
#include "instance/option_effects.hpp"
#include "instance/option_rows.hpp"
#include "platform/cgroup.hpp"
#include "region/huge_pages.hpp"

namespace gr {
namespace {

using Kind = OptionKind;

constexpr const char *kStatisticsWords[] = {"off", "text", "json", "prometheus", nullptr};
constexpr const char *kDeepBindingWords[] = {"mend", "drop", "keep", nullptr};
constexpr const char *kJunkWords[] = {"off", "allocate", "free", "all", nullptr};
constexpr const char *kFreeWords[] = {"now", "ignore", nullptr};
constexpr const char *kHugePagesWords[] = {"never", "auto", "always", nullptr};

constexpr std::size_t kPrintedAtOnce = 512;  // bytes of a path

constexpr OptionEffect kAtStart = nullptr;  // read at start-up, not changed later

constexpr OptionRow kOptionRows[] = {
    {"STATS", Kind::words, &Options::stats, 0, change_statistics, "off|text|json|prometheus",
     "print statistics to standard error at exit", nullptr, kStatisticsWords},
    {"STATS_FILE", Kind::path, &Options::stats_file, 0, kAtStart, "file",
     "write statistics to it again and again: *.prom for Prometheus, *.json as JSON, else text; %p: process number"},
    {"STATS_INTERVAL", Kind::seconds, &Options::stats_interval, kStatisticsSeconds, kAtStart, "seconds",
     "time between two writes of GRANARY_STATS_FILE"},
    {"VERBOSE", Kind::flag, &Options::verbose, 0, change_value_only, "0|1",
     "print one line at start-up that says how the allocator runs"},
    {"OPTIONS_FILE", Kind::path, &Options::options_file, 0, kAtStart, "file",
     "the file that options were read from; the environment and the program may name another; empty: no file"},
    {"RSEQ", Kind::on_off, &Options::rseq, 1, kAtStart, "on|off",
     "use restartable sequences if the kernel and the C library provide them"},
    {"REGION", Kind::bytes, &Options::region, 0, kAtStart, "bytes",
     "upper bound on the address range of blocks; 0 derives it from the physical memory"},
    {"RETAIN", Kind::bytes, &Options::retain, kRetainBytes, change_retention, "bytes",
     "empty units that may stay resident, and as many free pages in superblocks; 1/32 of the memory in use if more"},
    {"REUSE", Kind::bytes, &Options::reuse, kReuseBytes, change_retention, "bytes",
     "upper bound on extra memory kept for programs that free and reallocate repeatedly", nullptr, nullptr, "BREATH"},
    {"DIRECT", Kind::bytes, &Options::direct, kDirectThreshold, change_direct, "bytes",
     "blocks larger than this are mapped directly from the kernel"},
    {"MAGAZINE", Kind::bytes, &Options::magazine, kMagazineBudget, change_magazines, "bytes",
     "free blocks that the magazines of one concurrency id may hold at first"},
    {"LIMIT", Kind::limits, &Options::soft_limit, 0, change_limits, "soft[,hard]",
     "limits on the memory held; auto: the control group's; above soft nothing is retained, above hard requests fail",
     &Options::hard_limit},
    {"HUGE_PAGES", Kind::words, &Options::huge_pages, static_cast<std::size_t>(HugePolicy::automatic), kAtStart,
     "never|auto|always",
     "use huge pages nowhere; under the full parts of a large heap; wherever the kernel makes them", nullptr,
     kHugePagesWords},
    {"BACKGROUND", Kind::on_off, &Options::background, 0, change_background, "on|off",
     "run a thread that returns idle magazines, and all empty memory of an idle program, to the kernel"},
    {"DEEPBIND", Kind::words, &Options::deep_binding, static_cast<std::size_t>(DeepBinding::mend), kAtStart,
     "mend|drop|keep",
     "libraries opened with RTLD_DEEPBIND: replace only their malloc; remove the flag; leave them libc's malloc",
     nullptr, kDeepBindingWords},
    {"JUNK", Kind::words, &Options::junk, static_cast<std::size_t>(JunkMode::off), kAtStart, "off|allocate|free|all",
     "fill blocks with bytes that show bugs: new blocks, freed blocks, or both", nullptr, kJunkWords},
    {"ZERO", Kind::on_off, &Options::zero, 0, kAtStart, "on|off", "fill new blocks with zeros"},
    {"PROFILE", Kind::profile, &Options::profile, 0, kAtStart, "bytes[,signal][,exit][,every=bytes]",
     "sample a call stack every so many bytes (on: 512K); write a profile for pprof at the signal, for example "
     "USR2, when the program ends, or each time so many bytes were allocated",
     &Options::profile_moments, nullptr, nullptr, &Options::profile_every},
    {"PROFILE_FOLDER", Kind::path, &Options::profile_folder, 0, kAtStart, "folder",
     "where profiles are written; empty: the current folder"},
    {"COLLECTIONS", Kind::path, &Options::collections, 0, kAtStart, "file",
     "each collection appends one line of JSON to it"},
    {"GC_POLICY", Kind::words, &Options::gc_policy, static_cast<std::size_t>(GcPolicy::proportional), kAtStart,
     "proportional|growable|fixed|square-root",
     "how far a collected heap grows between two collections: in proportion to what lives; so and never smaller; to "
     "GC_INITIAL_HEAP_SIZE; by the square root of what lives and of the rate of allocation",
     nullptr, kGcPolicyWords},
    {"GC_TRACER", Kind::on_off, &Options::gc_tracer, 1, kAtStart, "on|off",
     "a collection stops threads that its signal does not reach or would disturb by ptrace, from another process; off: "
     "no such process"},
    {"FREE", Kind::words, &Options::free, static_cast<std::size_t>(FreeMode::now), kAtStart, "now|ignore",
     "with --gc-malloc: free releases the block now; free does nothing, only the collector releases it", nullptr,
     kFreeWords},
    {"QUARANTINE", Kind::on_off, &Options::quarantine, 0, kAtStart, "on|off",
     "reuse a freed block only when no pointer to it is left"},
    {"LEAKS", Kind::path, &Options::leaks, 0, kAtStart, "folder",
     "where each process writes its leaks; set by granary leaks"},
};
constexpr const char *kOrigins[] = {"default", "program", "file", "environment", "run-time"};
// Relaxed, orders nothing: a thread that prints a value while another thread sets it may find the older origin.
constinit std::atomic<OptionOrigin> origins[std::size(kOptionRows)]{};

std::atomic<OptionOrigin> &origin_of(const OptionRow &row) { return origins[&row - kOptionRows]; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_word(const char *text, const char *word) {
    const char *rest = nullptr;
    return starts_with(text, word, &rest) && *rest == '\0';
}

// Reads up to the first character that does not belong to the number; *rest points to that character.
bool parse_bytes(const char *text, std::size_t *value, const char **rest) {
    if (*text < '0' || *text > '9') return false;
    std::size_t number = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        if (__builtin_mul_overflow(number, std::size_t{10}, &number)) return false;
        if (__builtin_add_overflow(number, static_cast<std::size_t>(*text - '0'), &number)) return false;
    }
    static constexpr char kSuffixes[] = {'k', 'm', 'g', 't'};
    for (std::size_t i = 0; i < std::size(kSuffixes) && *text != '\0'; ++i) {
        if (lower(*text) != kSuffixes[i]) continue;
        if (__builtin_mul_overflow(number, std::size_t{1} << (10 * (i + 1)), &number)) return false;
        ++text;
        break;
    }
    *value = number;
    *rest = text;
    return true;
}

bool parse_bytes(const char *text, std::size_t *value) { return parse_bytes(text, value, &text) && *text == '\0'; }

// A number without a suffix.
bool parse_seconds(const char *text, std::size_t *value) {
    for (const char *c = text; *c != '\0'; ++c) {
        if (*c < '0' || *c > '9') return false;
    }
    return parse_bytes(text, value) && *value != 0 && *value <= kStatisticsSecondsMost;
}

// *found becomes true where the value comes from the system and not from the text.
bool parse_limit(const char *text, FindLimit find, std::size_t *value, bool *found, const char **rest) {
    if (!starts_with(text, "auto", rest)) return parse_bytes(text, value, rest);
    const std::size_t limit = find();
    *value = limit == platform::kNoMemoryLimit ? 0 : limit;
    *found = true;
    return true;
}

// A soft limit above the hard limit is an error, unless one of the two comes from the system (auto).
bool parse_limits(const char *text, FindLimit find, std::size_t *soft, std::size_t *hard) {
    bool found = false;
    if (!parse_limit(text, find, soft, &found, &text)) return false;
    if (*text == ',' && !parse_limit(text + 1, find, hard, &found, &text)) return false;
    if (*text != '\0') return false;
    if (*hard == 0 || *soft <= *hard) return true;
    *soft = *hard;
    return found;
}

// A signal number that the kernel has, 0 for none, or the name of a signal that few programs use.
bool parse_signal(const char *text, std::size_t *value, const char **rest) {
    struct Name {
        const char *word;
        std::size_t number;
    };
    static constexpr Name kNames[] = {{"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"PROF", SIGPROF}};
    for (const Name &name : kNames) {
        *value = name.number;
        if (starts_with(text, name.word, rest)) return true;
    }
    constexpr std::size_t kLastSignal = 64;
    return parse_bytes(text, value, rest) && *value <= kLastSignal && *value != SIGKILL && *value != SIGSTOP;
}

// A signal, exit, and every= with bytes: each after a comma, and at most once.
bool parse_moments(const char *text, std::size_t *moments, std::size_t *every) {
    bool has_signal = false;
    bool has_exit = false;
    while (*text == ',') {
        const char *rest = nullptr;
        if (!has_exit && starts_with(text, ",exit", &rest)) {
            has_exit = true;
            *moments += kProfileAtExit;
        } else if (*every == 0 && starts_with(text, ",every=", &rest)) {
            if (!parse_bytes(rest, every, &rest) || *every == 0) return false;
        } else {
            std::size_t signal = 0;
            if (has_signal || !parse_signal(text + 1, &signal, &rest)) return false;
            has_signal = true;
            *moments += signal;
        }
        text = rest;
    }
    return *text == '\0';
}

bool parse_profile(const char *text, std::size_t *mean, std::size_t *moments, std::size_t *every) {
    if (is_word(text, "off")) return true;
    *mean = kProfileMean;
    if (!starts_with(text, "on", &text) && !parse_bytes(text, mean, &text)) return false;
    if (*mean > kProfileMeanMost) return false;
    return parse_moments(text, moments, every);
}

// An absolute path that JSON can hold without escapes; or an empty text.
bool is_plain_path(const char *text) {
    if (*text != '/') return *text == '\0';
    for (; *text != '\0'; ++text) {
        if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\') return false;
    }
    return true;
}

std::string_view path_of(const OptionRow &row, const Options &options) {
    const std::size_t address = load_option(options.*row.value);
    return address == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char *>(address));
}

void put_value(Text &out, const OptionRow &row, const Options &options) {
    const std::size_t value = load_option(options.*row.value);
    switch (row.kind) {
        case Kind::bytes:
        case Kind::seconds:
        case Kind::flag:
            out << value;
            break;
        case Kind::on_off:
            out << (value != 0 ? "on" : "off");
            break;
        case Kind::words:
            out << row.words[value];
            break;
        case Kind::limits:
            out << value << ',' << load_option(options.*row.second);
            break;
        case Kind::profile:
            out << value << ',' << options.*row.second % kProfileAtExit;
            if (options.*row.second >= kProfileAtExit) out << ",exit";
            if (options.*row.third != 0) out << ",every=" << options.*row.third;
            break;
        case Kind::path:
            out << path_of(row, options);
            break;
    }
}

}  // namespace

bool starts_with(const char *text, const char *word, const char **rest) {
    while (*word != '\0') {
        if (lower(*text++) != lower(*word++)) return false;
    }
    *rest = text;
    return true;
}

bool OptionRow::parse(const char *text, FindLimit find, OptionNumbers *numbers) const {
    *numbers = {};
    std::size_t &first = numbers->first;
    switch (kind) {
        case Kind::bytes:
            return parse_bytes(text, &first);
        case Kind::seconds:
            return parse_seconds(text, &first);
        case Kind::flag:
            first = is_word(text, "1");
            return first == 1 || is_word(text, "0");
        case Kind::on_off:
            first = is_word(text, "on");
            return first == 1 || is_word(text, "off");
        case Kind::words:
            for (; words[first] != nullptr; ++first) {
                if (is_word(text, words[first])) return true;
            }
            return false;
        case Kind::limits:
            return parse_limits(text, find, &first, &numbers->second);
        case Kind::path:
            first = *text == '\0' ? 0 : reinterpret_cast<std::size_t>(text);
            return is_plain_path(text);
        case Kind::profile:
            return parse_profile(text, &first, &numbers->second, &numbers->third);
    }
    return false;
}

std::span<const OptionRow> option_rows() { return kOptionRows; }

const OptionRow *find_option(const char *name) {
    for (const OptionRow &row : kOptionRows) {
        if (is_word(name, row.name) || (row.former != nullptr && is_word(name, row.former))) return &row;
    }
    return nullptr;
}

void set_origin(const OptionRow &row, OptionOrigin origin) { origin_of(row).store(origin, std::memory_order_relaxed); }

Options Options::defaults() {
    Options options{};
    for (const OptionRow &row : kOptionRows) options.*row.value = row.fallback;
    return options;
}

void print_options(const Options &options, bool json, void (*put)(void *sink, const Text &line), void *sink) {
    TextBuffer<2 * kPrintedAtOnce> line;
    std::size_t printed = 0;  // characters of the line that were put already
    const auto put_line = [&] {
        put(sink, line);
        printed += line.size();
        line.clear();
    };
    // A path may be longer than any buffer.
    const auto add_value = [&](const OptionRow &row) {
        if (row.kind != Kind::path) return put_value(line, row, options);
        for (std::string_view path = path_of(row, options); !path.empty();) {
            put_line();
            line << path.substr(0, kPrintedAtOnce);
            path.remove_prefix(line.size());
        }
    };
    const auto fill_to = [&](std::size_t column) { line.pad(0, column > printed ? column - printed : 0); };
    for (const OptionRow &row : kOptionRows) {
        const char *const origin = kOrigins[static_cast<std::size_t>(origin_of(row).load(std::memory_order_relaxed))];
        const bool changeable = row.effect != nullptr;
        printed = 0;
        if (json) {
            line << (&row == kOptionRows ? "[\n" : ",\n") << R"(  {"name": ")" << kOptionPrefix << row.name
                 << R"(", "value": ")";
            add_value(row);
            line << R"(", "origin": ")" << origin << R"(", "changeable": )" << (changeable ? "true" : "false")
                 << R"(, "unit": ")" << row.unit << R"(", "meaning": ")" << row.meaning << "\"}";
        } else {
            line << kOptionPrefix << row.name << '=';
            add_value(row);
            // A space separates the columns even where a value fills its own.
            line << ' ';
            fill_to(28);
            line << origin << ' ';
            fill_to(40);
            line << (changeable ? "changeable " : "fixed ");
            fill_to(51);
            line << row.unit << ' ';
            fill_to(70);
            line << row.meaning << '\n';
        }
        put_line();
    }
    if (json) put(sink, static_cast<Text &>(line << "\n]\n"));
}

std::optional<std::string_view> option_value(const Options &options, const char *name, OptionText *room) {
    const OptionRow *const row = find_option(name);
    if (row == nullptr) return std::nullopt;
    if (row->kind == Kind::path) return path_of(*row, options);
    put_value(*room, *row, options);
    return std::string_view(room->data(), room->size());
}

}  // namespace gr
