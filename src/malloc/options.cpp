// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the table of options, its parser and its printers.
// Invariant: every option is one row; reading, printing and looking up walk the same table.
// Must not know: what an option changes.
#include "malloc/options.hpp"

#include <csignal>
#include <iterator>

#include "base/config.hpp"
#include "platform/cgroup.hpp"
#include "platform/process.hpp"
#include "region/huge_pages.hpp"

namespace gr {
namespace {

enum class Kind : unsigned char { bytes, flag, on_off, words, limits, path, profile };

struct Row {
    const char *name;
    Kind kind;
    std::size_t Options::*value;
    std::size_t fallback;
    const char *unit;
    const char *meaning;
    std::size_t Options::*second = nullptr;  // the second number of a pair
    const char *const *words = nullptr;      // the value is an index into these; nullptr ends them
    const char *former = nullptr;            // the option's name in earlier versions, which is still read
};

constexpr const char *kStatisticsWords[] = {"off", "text", "json", nullptr};
constexpr const char *kDeepBindingWords[] = {"mend", "drop", "keep", nullptr};
constexpr const char *kFreeWords[] = {"now", "ignore", nullptr};
constexpr const char *kHugePagesWords[] = {"never", "auto", "always", nullptr};

constexpr Row kTable[] = {
    {"STATS", Kind::words, &Options::stats, 0, "off|text|json", "print statistics to standard error at exit", nullptr,
     kStatisticsWords},
    {"VERBOSE", Kind::flag, &Options::verbose, 0, "0|1", "print one line at start-up that says how the allocator runs"},
    {"RSEQ", Kind::on_off, &Options::rseq, 1, "on|off",
     "use restartable sequences if the kernel and the C library provide them"},
    {"REGION", Kind::bytes, &Options::region, 0, "bytes",
     "address space to reserve for blocks; 0 derives it from the physical memory"},
    {"RETAIN", Kind::bytes, &Options::retain, kRetainBytes, "bytes",
     "empty units that may stay resident, and as many free pages in superblocks; 1/32 of the memory in use if more"},
    {"REUSE", Kind::bytes, &Options::reuse, kReuseBytes, "bytes",
     "upper bound on extra memory kept for programs that free and reallocate repeatedly", nullptr, nullptr, "BREATH"},
    {"DIRECT", Kind::bytes, &Options::direct, kDirectThreshold, "bytes",
     "blocks larger than this are mapped directly from the kernel"},
    {"MAGAZINE", Kind::bytes, &Options::magazine, kMagazineBudget, "bytes",
     "free blocks that the magazines of one concurrency id may hold at first"},
    {"LIMIT", Kind::limits, &Options::soft_limit, 0, "soft[,hard]",
     "limits on the memory held; auto: the control group's; above soft nothing is retained, above hard requests fail",
     &Options::hard_limit},
    {"HUGE_PAGES", Kind::words, &Options::huge_pages, static_cast<std::size_t>(HugePolicy::automatic),
     "never|auto|always",
     "use huge pages nowhere; under the full parts of a large heap; wherever the kernel makes them", nullptr,
     kHugePagesWords},
    {"BACKGROUND", Kind::on_off, &Options::background, 0, "on|off",
     "run a thread that returns idle magazines, and all empty memory of an idle program, to the kernel"},
    {"DEEPBIND", Kind::words, &Options::deep_binding, static_cast<std::size_t>(DeepBinding::mend), "mend|drop|keep",
     "libraries opened with RTLD_DEEPBIND: replace only their malloc; remove the flag; leave them libc's malloc",
     nullptr, kDeepBindingWords},
    {"PROFILE", Kind::profile, &Options::profile, 0, "bytes[,signal]",
     "sample a call stack every so many bytes (on: 512K); write a profile for pprof at the signal, for example USR2",
     &Options::profile_signal},
    {"PROFILE_FOLDER", Kind::path, &Options::profile_folder, 0, "folder",
     "where the signal writes profiles; empty: the current folder"},
    {"COLLECTIONS", Kind::path, &Options::collections, 0, "file", "each collection appends one line of JSON to it"},
    {"FREE", Kind::words, &Options::free, static_cast<std::size_t>(FreeMode::now), "now|ignore",
     "with --gc-malloc: free releases the block now; free does nothing, only the collector releases it", nullptr,
     kFreeWords},
    {"QUARANTINE", Kind::on_off, &Options::quarantine, 0, "on|off",
     "reuse a freed block only when no pointer to it is left"},
    {"LEAKS", Kind::path, &Options::leaks, 0, "folder", "where each process writes its leaks; set by granary leaks"},
};
constexpr const char *kPrefix = "GRANARY_";
bool from_environment[std::size(kTable)];

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Whether `text` begins with `word`, in any case; then *rest is what follows.
bool starts_with(const char *text, const char *word, const char **rest) {
    while (*word != '\0') {
        if (lower(*text++) != lower(*word++)) return false;
    }
    *rest = text;
    return true;
}

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
bool parse_signal(const char *text, std::size_t *value) {
    struct Name {
        const char *word;
        std::size_t number;
    };
    static constexpr Name kNames[] = {{"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"PROF", SIGPROF}};
    for (const Name &name : kNames) {
        *value = name.number;
        if (is_word(text, name.word)) return true;
    }
    constexpr std::size_t kLastSignal = 64;
    return parse_bytes(text, value) && *value <= kLastSignal && *value != SIGKILL && *value != SIGSTOP;
}

bool parse_profile(const char *text, std::size_t *mean, std::size_t *signal) {
    if (is_word(text, "off")) return true;
    *mean = kProfileMean;
    if (!starts_with(text, "on", &text) && !parse_bytes(text, mean, &text)) return false;
    if (*mean > kProfileMeanMost) return false;
    return *text == '\0' || (*text == ',' && parse_signal(text + 1, signal));
}

// An absolute path that JSON can hold without escapes; or an empty text.
bool is_plain_path(const char *text) {
    if (*text != '/') return *text == '\0';
    for (; *text != '\0'; ++text) {
        if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\') return false;
    }
    return true;
}

bool parse(const Row &row, const char *text, FindLimit find, std::size_t *value, std::size_t *second) {
    switch (row.kind) {
        case Kind::bytes:
            return parse_bytes(text, value);
        case Kind::flag:
            *value = is_word(text, "1");
            return *value == 1 || is_word(text, "0");
        case Kind::on_off:
            *value = is_word(text, "on");
            return *value == 1 || is_word(text, "off");
        case Kind::words:
            for (*value = 0; row.words[*value] != nullptr; ++*value) {
                if (is_word(text, row.words[*value])) return true;
            }
            return false;
        case Kind::limits:
            return parse_limits(text, find, value, second);
        case Kind::path:
            *value = *text == '\0' ? 0 : reinterpret_cast<std::size_t>(text);
            return is_plain_path(text);
        case Kind::profile:
            return parse_profile(text, value, second);
    }
    return false;
}

void put_value(Text &out, const Row &row, const Options &options) {
    const std::size_t value = options.*row.value;
    switch (row.kind) {
        case Kind::bytes:
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
        case Kind::profile:
            out << value << ',' << options.*row.second;
            break;
        case Kind::path:
            if (value != 0) out << reinterpret_cast<const char *>(value);
            break;
    }
}

// Enough for a warning about any variable; put_variable cuts its own part.
using Warning = TextBuffer<400>;

// As much of it as fits, in one line.
void put_variable(Text &line, const char *variable) {
    constexpr std::size_t kShown = 200;
    std::size_t shown = 0;
    for (; shown < kShown && variable[shown] != '\0'; ++shown) {
        line << (variable[shown] == '\n' || variable[shown] == '\r' ? '?' : variable[shown]);
    }
    line << (variable[shown] == '\0' ? ": " : "...: ");
}

void warn(const char *variable, const Row *row) {
    Warning line;
    line << "granary: ignoring ";
    put_variable(line, variable);
    if (row == nullptr) {
        line << "unknown option; see 'granary options'\n";
    } else if (row->kind == Kind::bytes) {
        line << "expected bytes, as in 8M\n";
    } else if (row->kind == Kind::path) {
        line << "expected an absolute path of printable ASCII characters without quotes and backslashes\n";
    } else if (row->kind == Kind::limits) {
        line << "expected bytes or auto, optionally followed by a hard limit that is not lower, as in 1G,auto\n";
    } else if (row->kind == Kind::profile) {
        line << "expected on, off or bytes up to 1T, optionally followed by a signal, as in 512K,USR2\n";
    } else {
        line << "expected " << row->unit << '\n';
    }
    platform::write_all(2, line.data(), line.size());
}

void warn_of_both_names(const char *variable, const Row &row) {
    Warning line;
    line << "granary: ignoring ";
    put_variable(line, variable);
    line << "the option is now called " << kPrefix << row.name << ", which is set too\n";
    platform::write_all(2, line.data(), line.size());
}

void say_new_name(const Row &row) {
    Warning line;
    line << "granary: " << kPrefix << row.former << " is now called " << kPrefix << row.name << "; the value is used\n";
    platform::write_all(2, line.data(), line.size());
}

// The value in `variable` if it sets the option `name`; else nullptr.
const char *value_of(const char *variable, const char *name) {
    const char *rest = nullptr;
    if (!starts_with(variable, kPrefix, &rest) || !starts_with(rest, name, &rest) || *rest != '=') return nullptr;
    return rest + 1;
}

bool is_set(const char *const *environment, const char *name) {
    for (; *environment != nullptr; ++environment) {
        if (value_of(*environment, name) != nullptr) return true;
    }
    return false;
}

void read_variable(const char *const *environment, const char *variable, FindLimit find, Options *options) {
    const char *rest = nullptr;
    if (!starts_with(variable, kPrefix, &rest)) return;
    for (const Row &row : kTable) {
        const char *text = value_of(variable, row.name);
        const bool is_former = text == nullptr && row.former != nullptr;
        if (is_former) text = value_of(variable, row.former);
        if (text == nullptr) continue;
        if (is_former && is_set(environment, row.name)) return warn_of_both_names(variable, row);
        std::size_t value = 0;
        std::size_t second = 0;
        if (!parse(row, text, find, &value, &second)) return warn(variable, &row);
        options->*row.value = value;
        if (row.second != nullptr) options->*row.second = second;
        from_environment[&row - kTable] = true;
        if (is_former) say_new_name(row);
        return;
    }
    warn(variable, nullptr);
}

}  // namespace

Options Options::defaults() {
    Options options{};
    for (const Row &row : kTable) options.*row.value = row.fallback;
    return options;
}

void read_options(const char *const *environment, Options *options, FindLimit find) {
    if (environment == nullptr) return;
    for (const char *const *variable = environment; *variable != nullptr; ++variable)
        read_variable(environment, *variable, find, options);
}

void print_options(const Options &options, bool json, void (*put)(void *sink, const Text &line), void *sink) {
    TextBuffer<512> line;
    for (const Row &row : kTable) {
        const char *const origin = from_environment[&row - kTable] ? "environment" : "default";
        line.clear();
        if (json) {
            line << (&row == kTable ? "[\n" : ",\n") << R"(  {"name": ")" << kPrefix << row.name << R"(", "value": ")";
            put_value(line, row, options);
            line << R"(", "origin": ")" << origin << R"(", "unit": ")" << row.unit << R"(", "meaning": ")"
                 << row.meaning << "\"}";
        } else {
            line << kPrefix << row.name << '=';
            put_value(line, row, options);
            // A space separates the columns even where a value fills its own.
            line << ' ';
            line.pad(0, 28) << origin << ' ';
            line.pad(0, 42) << row.unit << ' ';
            line.pad(0, 61) << row.meaning << '\n';
        }
        put(sink, line);
    }
    line.clear();
    if (json) put(sink, static_cast<Text &>(line << "\n]\n"));
}

bool option_value(const Options &options, const char *name, Text *value) {
    for (const Row &row : kTable) {
        if (!is_word(name, row.name) && (row.former == nullptr || !is_word(name, row.former))) continue;
        put_value(*value, row, options);
        return true;
    }
    return false;
}

}  // namespace gr
