// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reading options: from the text that a program was compiled with, from a file, and from the environment.
// Invariant: a setting that cannot be used gives one line that says where it stands, and changes nothing. A text that
//    is too long is ignored as a whole, with a line that says so. No memory is allocated, and errno stays.
// Must not know: which options exist, except the one that names the file.
#include <cerrno>
#include <string_view>

#include "base/config.hpp"
#include "base/printable.hpp"
#include "instance/option_rows.hpp"
#include "platform/cgroup.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constexpr const char *kUsualFile = "/etc/granary.conf";
constexpr const char *kProgramVariable = "gr_options";

// Settings are terminated in place, and options keep pointing to the paths here. The last byte is for a terminator; if
// a file fills it, the file is too long.
char program_text[kProgramOptionBytes + 1];
char file_text[kOptionFileBytes + 1];
// The text that was copied to program_text. The address is only compared.
const char *program_options_read = nullptr;

enum class Blanks : bool { forbidden, allowed };

// What a text or the environment says of one option.
struct Setting {
    const char *text;   // NAME=VALUE, the name with or without the prefix
    const char *place;  // where the text stands; nullptr: in the environment
    std::size_t line;   // in that text; 0: it has no lines
    OptionOrigin origin;
};

// Enough for a warning about any setting: the text and its place are cut.
using Warning = TextBuffer<3 * kShownOptionBytes>;

// Puts as much of the text as is shown, in one line.
void put_shown(Text &line, const char *text) {
    char shown[kShownOptionBytes];
    std::size_t size = 0;
    for (; size < sizeof shown && text[size] != '\0'; ++size) shown[size] = text[size];
    make_printable(&shown[0], size);
    line << std::string_view(&shown[0], size);
    if (text[size] != '\0') line << "...";
}

void put_place(Text &line, const Setting &setting) {
    if (setting.place == nullptr) return;
    put_shown(line, setting.place);
    if (setting.line != 0) line << ':' << setting.line;
    line << ": ";
}

void say(const Text &line) { platform::write_all(2, line.data(), line.size()); }

void warn(const Setting &setting, const char *why, const char *more = "") {
    Warning line;
    line << "granary: ignoring ";
    put_place(line, setting);
    put_shown(line, setting.text);
    line << ": " << why << more << '\n';
    say(line);
}

void warn_of_seconds(const Setting &setting) {
    TextBuffer<64> expected;
    expected << "expected seconds, from 1 to " << kStatisticsSecondsMost << '\0';
    warn(setting, expected.data());
}

void warn_of_value(const Setting &setting, const OptionRow &row) {
    switch (row.kind) {
        case OptionKind::bytes:
            return warn(setting, "expected bytes, as in 8M");
        case OptionKind::seconds:
            return warn_of_seconds(setting);
        case OptionKind::path:
            return warn(setting,
                        "expected an absolute path of printable ASCII characters without quotes and backslashes");
        case OptionKind::limits:
            return warn(setting,
                        "expected bytes or auto, optionally followed by a hard limit that is not lower, as in 1G,auto");
        case OptionKind::profile:
            return warn(
                setting,
                "expected on, off or bytes up to 1T, optionally followed by a signal, by exit and by every=bytes, "
                "as in 512K,USR2,exit");
        case OptionKind::flag:
        case OptionKind::on_off:
        case OptionKind::words:
            return warn(setting, "expected ", row.unit);
    }
}

void warn_of_both_names(const Setting &setting, const OptionRow &row) {
    Warning line;
    line << "granary: ignoring ";
    put_shown(line, setting.text);
    line << ": the option is now called " << kOptionPrefix << row.name << ", which is set too\n";
    say(line);
}

void say_new_name(const Setting &setting, const OptionRow &row) {
    Warning line;
    line << "granary: ";
    put_place(line, setting);
    line << kOptionPrefix << row.former << " is now called " << kOptionPrefix << row.name << "; the value is used\n";
    say(line);
}

// Warns about a text as a whole.
void warn_of_text(const char *name, const char *why, std::size_t number, const char *unit) {
    Warning line;
    line << "granary: ignoring ";
    put_shown(line, name);
    line << ": " << why << number << unit << '\n';
    say(line);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

const char *behind_blanks(const char *text) {
    while (is_blank(*text)) ++text;
    return text;
}

// `text` follows the prefix. Returns the value if the text sets the option `name`; else nullptr.
const char *value_of(const char *text, const char *name, Blanks blanks) {
    if (!starts_with(text, name, &text)) return nullptr;
    if (blanks == Blanks::allowed) text = behind_blanks(text);
    if (*text != '=') return nullptr;
    return blanks == Blanks::allowed ? behind_blanks(text + 1) : text + 1;
}

// The value of the variable GRANARY_<name>; else nullptr.
const char *variable_value(const char *variable, const char *name) {
    return starts_with(variable, kOptionPrefix, &variable) ? value_of(variable, name, Blanks::forbidden) : nullptr;
}

template <class Visit>
void for_each_variable(const char *const *environment, Visit visit) {
    for (; environment != nullptr && *environment != nullptr; ++environment) visit(*environment);
}

bool is_set(const char *const *environment, const char *name) {
    bool found = false;
    for_each_variable(environment,
                      [&](const char *variable) { found = found || variable_value(variable, name) != nullptr; });
    return found;
}

class Reader {
  public:
    Reader(const OptionSources &sources, Options &options) : sources_(sources), options_(options) {}

    void read() {
        if (sources_.program != nullptr) read_program();
        read_file();
        for_each_variable(sources_.environment, [this](const char *variable) { read_variable(variable); });
    }

  private:
    static bool names_file(const OptionRow &row) { return row.value == &Options::options_file; }

    void read_program();
    void read_file();
    void find_named_file();
    void read_settings(char *text, std::size_t size, const char *place, OptionOrigin origin);
    void read_setting(const Setting &setting);
    void read_variable(const char *variable);
    bool take(const Setting &setting, const OptionRow &row, const char *value);

    const OptionSources &sources_;
    Options &options_;
    bool file_is_named_ = false;  // also true if a setting says that there is no file
};

// false: the value cannot be parsed.
bool Reader::take(const Setting &setting, const OptionRow &row, const char *value) {
    OptionNumbers numbers;
    if (!row.parse(value, sources_.find, &numbers)) {
        warn_of_value(setting, row);
        return false;
    }
    row.for_each_number(numbers, [&](std::size_t Options::*where, std::size_t number) { options_.*where = number; });
    set_origin(row, setting.origin);
    file_is_named_ = file_is_named_ || names_file(row);
    return true;
}

void Reader::read_variable(const char *variable) {
    const Setting setting{variable, nullptr, 0, OptionOrigin::environment};
    const char *rest = nullptr;
    if (!starts_with(variable, kOptionPrefix, &rest)) return;
    for (const OptionRow &row : option_rows()) {
        const char *value = value_of(rest, row.name, Blanks::forbidden);
        const bool is_former = value == nullptr && row.former != nullptr;
        if (is_former) value = value_of(rest, row.former, Blanks::forbidden);
        if (value == nullptr) continue;
        if (names_file(row)) return;  // find_named_file has read it
        if (is_former && is_set(sources_.environment, row.name)) return warn_of_both_names(setting, row);
        if (take(setting, row, value) && is_former) say_new_name(setting, row);
        return;
    }
    warn(setting, "unknown option; see 'granary options'");
}

void Reader::read_setting(const Setting &setting) {
    const char *rest = setting.text;
    starts_with(rest, kOptionPrefix, &rest);
    for (const OptionRow &row : option_rows()) {
        const char *value = value_of(rest, row.name, Blanks::allowed);
        const bool is_former = value == nullptr && row.former != nullptr;
        if (is_former) value = value_of(rest, row.former, Blanks::allowed);
        if (value == nullptr) continue;
        if (names_file(row) && setting.origin == OptionOrigin::file)
            return warn(setting, "a file cannot name another file");
        if (take(setting, row, value) && is_former) say_new_name(setting, row);
        return;
    }
    const bool has_value = std::string_view(setting.text).find('=') != std::string_view::npos;
    warn(setting, has_value ? "unknown option; see 'granary options'" : "expected NAME=VALUE, as in RETAIN=8M");
}

// A comment begins with a number sign that is the first character or follows a blank. Blanks before the comment, or
// before the end, do not belong to the setting.
char *end_of_setting(char *begin, char *end) {
    char *p = begin;
    while (p != end && (*p != '#' || (p != begin && !is_blank(p[-1])))) ++p;
    while (p != begin && is_blank(p[-1])) --p;
    return p;
}

// Settings in lines; those of a program may be separated by semicolons, too.
void Reader::read_settings(char *text, std::size_t size, const char *place, OptionOrigin origin) {
    const bool is_file = origin == OptionOrigin::file;
    std::size_t number = 0;
    for (char *p = text, *const end = text + size; p < end; ++p) {
        char *begin = p;
        for (; p != end && *p != '\n' && (is_file || *p != ';'); ++p) {
            if (*p == '\0') *p = '\1';  // so that it ends no text, and is not printed
        }
        ++number;
        while (begin != p && is_blank(*begin)) ++begin;
        char *const stop = end_of_setting(begin, p);
        *stop = '\0';
        if (stop != begin) read_setting({begin, place, is_file ? number : 0, origin});
    }
}

void Reader::read_program() {
    program_options_read = sources_.program;
    std::size_t size = 0;
    for (; sources_.program[size] != '\0'; ++size) {
        if (size == kProgramOptionBytes)
            return warn_of_text(kProgramVariable, "the text has more than ", kProgramOptionBytes, " bytes");
        program_text[size] = sources_.program[size];
    }
    read_settings(&program_text[0], size, kProgramVariable, OptionOrigin::program);
}

// The environment may name another file than the program does.
void Reader::find_named_file() {
    const OptionRow &row = *find_option("OPTIONS_FILE");
    for_each_variable(sources_.environment, [&](const char *variable) {
        if (const char *const value = variable_value(variable, row.name))
            take({variable, nullptr, 0, OptionOrigin::environment}, row, value);
    });
}

// Reads at most `size` bytes. Returns the number of bytes, or the kernel's negative errno.
long read_at_most(const char *path, char *text, std::size_t size) {
    const long file = platform::open_file(path);
    if (file < 0) return file;
    std::size_t length = 0;
    long read = 1;
    while (read > 0 && length != size) {
        read = platform::read_some(file, text + length, size - length);
        if (read > 0) length += static_cast<std::size_t>(read);
    }
    platform::close_file(file);
    return read < 0 ? read : static_cast<long>(length);
}

// Whether the error means that the file exists.
bool is_of_file(long error) { return error == -EACCES || error == -EISDIR || error == -EIO; }

void Reader::read_file() {
    if (sources_.file != nullptr) find_named_file();
    const auto *const named = reinterpret_cast<const char *>(options_.options_file);
    const char *const path = file_is_named_ ? named : sources_.file;
    options_.options_file = 0;  // until a file is read
    if (sources_.file == nullptr || path == nullptr) return;
    const long size = read_at_most(path, &file_text[0], sizeof file_text);
    if (size < 0) {
        if (file_is_named_ || is_of_file(size))
            warn_of_text(path, "the file cannot be read (error ", static_cast<std::size_t>(-size), ")");
        return;
    }
    if (static_cast<std::size_t>(size) > kOptionFileBytes)
        return warn_of_text(path, "the file has more than ", kOptionFileBytes, " bytes");
    options_.options_file = reinterpret_cast<std::size_t>(path);
    read_settings(&file_text[0], static_cast<std::size_t>(size), path, OptionOrigin::file);
}

}  // namespace

OptionSources OptionSources::of_process() {
    OptionSources sources;
    sources.program = platform::program_options();
    sources.find = [] { return platform::cgroup_memory_limit(); };
    if (platform::is_secure()) return sources;
    sources.file = kUsualFile;
    sources.environment = platform::environment();
    return sources;
}

void read_options(const OptionSources &sources, Options *options) {
    for (const OptionRow &row : option_rows()) set_origin(row, OptionOrigin::standard);
    Reader(sources, *options).read();
}

void tell_unread_options() {
    if (platform::program_options() == program_options_read) return;
    constexpr std::string_view kLine =
        "granary: ignoring gr_options: a library allocated memory before the loader had relocated the program\n";
    platform::write_all(2, kLine.data(), kLine.size());
}

}  // namespace gr
