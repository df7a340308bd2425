// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the reader of scripts: lines to commands, commands to steps.
// Invariant: as script.hpp; no more than kMostSteps steps, however often something is repeated.
// Must not know: allocators.
#include "stage/script.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace gr::lab::stage {
namespace {

constexpr std::size_t kMostSteps = 20000;
constexpr std::size_t kMostBlocks = 100000;
constexpr unsigned kMostThreads = 64;
constexpr std::size_t kMostRepetitions = 100000;

// A command is a row of words. A block of commands stands behind `repeat`.
struct Command {
    unsigned line = 0;
    std::string note;
    std::vector<std::string> words;
    std::vector<Command> repeated;
};

// `a`, or of `a[...]` the first and the last index.
struct Range {
    std::string name;
    bool is_indexed = false;
    bool is_all = false;
    std::size_t first = 0;
    std::size_t last = 0;
};

bool is_separator(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::optional<std::size_t> number_of(std::string_view text) {
    std::size_t unit = 1;
    if (text.ends_with('K')) {
        unit = 1024;
        text.remove_suffix(1);
    }
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > SIZE_MAX / unit) return std::nullopt;
    return value * unit;
}

class Reader {
  public:
    explicit Reader(const std::string &text) : text_(text) {}

    std::variant<Script, ScriptError> read() {
        std::vector<Command> commands = commands_until_end(false);
        for (Command &command : commands) run(command, 0);
        if (error_) return *error_;
        return script_;
    }

  private:
    void fail(unsigned line, std::string what) {
        if (!error_) error_ = ScriptError{line, std::move(what)};
    }

    // Lines, or parts between ';', '{' and '}'. A comment that stands before a command is its note.
    std::vector<Command> commands_until_end(bool is_in_braces) {
        std::vector<Command> commands;
        Command command;
        std::string note;
        const unsigned opened = line_;
        const auto finish = [&] {
            if (command.words.empty()) return;
            command.note = std::exchange(note, "");
            commands.push_back(std::exchange(command, Command()));
        };
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (c == '\n') {
                if (command.words.empty() && is_blank_line(at_ - 1)) note.clear();
                finish();
                ++line_;
            } else if (c == ';') {
                finish();
            } else if (c == '{') {
                command.line = line_;
                command.note = std::exchange(note, "");
                std::string own = command.note;
                command.repeated = commands_until_end(true);
                if (command.words.empty()) command.words.emplace_back("{");
                note = own;
                finish();
            } else if (c == '}') {
                finish();
                if (!is_in_braces) fail(line_, "a } without a {");
                return commands;
            } else if (c == '#') {
                const std::size_t end = std::min(text_.find('\n', at_), text_.size());
                std::string comment = text_.substr(at_, end - at_);
                comment.erase(0, comment.find_first_not_of(' '));
                if (!note.empty()) note += ' ';
                note += comment;
                at_ = end;
            } else if (!is_separator(c)) {
                const std::size_t end = std::min(text_.find_first_of(" \t\r\n;{}#", at_), text_.size());
                command.line = line_;
                command.words.push_back(text_.substr(at_ - 1, end - at_ + 1));
                at_ = end;
            }
        }
        finish();
        if (is_in_braces) fail(opened, "a { without a }");
        return commands;
    }
    bool is_blank_line(std::size_t end) const {
        const std::size_t begin = end == 0 ? std::string::npos : text_.rfind('\n', end - 1);
        for (std::size_t i = begin == std::string::npos ? 0 : begin + 1; i < end; ++i)
            if (!is_separator(text_[i])) return false;
        return true;
    }

    // thread: of the repetition that the command stands in; 0: none is named.
    void run(const Command &command, unsigned thread) {
        if (error_) return;
        std::vector<std::string> words = command.words;
        if (words[0] == "threads" || words[0] == "options") return set(command);
        if (words[0].ends_with(':')) {
            const auto number = number_of(std::string_view(words[0]).substr(0, words[0].size() - 1));
            if (!number || *number == 0 || *number > script_.threads)
                return fail(command.line, words[0] + " is no thread: they are 1: to " +
                                              std::to_string(script_.threads) + ":, as the line `threads` says");
            thread = static_cast<unsigned>(*number);
            words.erase(words.begin());
        }
        if (words.empty()) return fail(command.line, "a thread without a command");
        if (words[0] == "repeat") return repeat(command, words, thread);
        if (!command.repeated.empty()) return fail(command.line, "only `repeat N` stands before a {");
        if (thread == 0) return fail(command.line, "no thread: write `1: " + words[0] + " ...`");
        if (ended_.contains(thread)) return fail(command.line, "thread " + std::to_string(thread) + " has ended");
        call(command, words, thread);
    }
    void set(const Command &command) {
        if (!script_.steps.empty() || command.words.size() != 2)
            return fail(command.line, "`" + command.words[0] + " VALUE` stands before all steps");
        if (command.words[0] == "options") {
            script_.options = command.words[1];
            return;
        }
        const auto number = number_of(command.words[1]);
        if (!number || *number == 0 || *number > kMostThreads)
            return fail(command.line, "`threads N` has a number from 1 to " + std::to_string(kMostThreads));
        script_.threads = static_cast<unsigned>(*number);
    }
    void repeat(const Command &command, const std::vector<std::string> &words, unsigned thread) {
        const auto times = words.size() == 2 ? number_of(words[1]) : std::nullopt;
        if (!times || *times > kMostRepetitions || command.repeated.empty())
            return fail(command.line, "a repetition is `repeat N { ... }`");
        for (std::size_t i = 0; i < *times && !error_; ++i)
            for (Command each : command.repeated) {
                if (i != 0) each.note.clear();
                run(each, thread);
            }
    }

    void call(const Command &command, std::vector<std::string> &words, unsigned thread) {
        const bool is_fast = take(words, "fast");
        const bool stops = take(words, "stop");
        const std::size_t before = script_.steps.size();
        call_without_stop(command, words, thread, is_fast);
        if (!stops || error_) return;
        if (script_.steps.size() != before + 1 || script_.steps.back().actions.front().name.empty())
            return fail(command.line, "`stop` stands behind one malloc, calloc, realloc or free");
        script_.steps.back().text += " stops";
        script_.steps.back().stops_at_lock = true;
    }
    void call_without_stop(const Command &command, std::vector<std::string> &words, unsigned thread, bool is_fast) {
        if (words.size() == 1 && words[0] == "end") {
            add(command, thread, "thread " + std::to_string(thread) + " ends", {{Call::end, "", 0}});
            ended_.insert(thread);
        } else if (words.size() == 1 && words[0] == "go") {
            add(command, thread, "thread " + std::to_string(thread) + " goes on", {{Call::go, "", 0}});
        } else if (words.size() == 2 && words[0] == "free") {
            release(command, words[1], thread, is_fast);
        } else if (words.size() == 4 && words[1] == "=" && (words[2] == "malloc" || words[2] == "calloc")) {
            allocate(command, words, thread, is_fast);
        } else if (words.size() == 5 && words[1] == "=" && words[2] == "realloc") {
            reallocate(command, words, thread);
        } else {
            fail(command.line,
                 "unknown command: it is `a = malloc N`, `a = calloc N`, `a = realloc a N`, `free a`, "
                 "`go`, `end` or `repeat N { ... }`");
        }
    }
    static bool take(std::vector<std::string> &words, std::string_view word) {
        for (auto it = words.begin(); it != words.end(); ++it) {
            if (*it != word) continue;
            words.erase(it);
            return true;
        }
        return false;
    }
    void allocate(const Command &command, const std::vector<std::string> &words, unsigned thread, bool is_fast) {
        const auto range = range_of(command, words[0]);
        const auto bytes = number_of(words[3]);
        if (!range) return;
        if (!bytes || (range->is_indexed && (range->is_all || range->first != range->last || range->first == 0)))
            return fail(command.line, "`a = malloc N` or `a[COUNT] = malloc N` has numbers");
        const Call kind = words[2] == "malloc" ? Call::allocate : Call::allocate_zeroed;
        std::vector<Action> actions;
        if (!range->is_indexed) {
            actions.push_back({kind, range->name, *bytes});
        } else {
            if (range->first > kMostBlocks) return fail(command.line, "too many blocks");
            for (std::size_t i = 0; i < range->first; ++i)
                actions.push_back({kind, range->name + '.' + std::to_string(i), *bytes});
            counts_[range->name] = range->first;
        }
        const std::string arguments = " = " + words[2] + '(' + std::to_string(*bytes) + ')';
        for (const Action &action : actions)
            if (!live_.insert(action.name).second)
                return fail(command.line, action.name + " is in use: free it first, or take another name");
        add_all(
            command, thread, is_fast, actions, [&](const std::string &name) { return name + arguments; }, words[0]);
    }
    void reallocate(const Command &command, const std::vector<std::string> &words, unsigned thread) {
        const auto bytes = number_of(words[4]);
        if (words[0] != words[3] || !bytes || *bytes == 0)
            return fail(command.line, "`a = realloc a N` keeps the name, and N is not 0");
        if (!live_.contains(words[0])) return fail(command.line, words[0] + " is not in use");
        add(command, thread, words[0] + " = realloc(" + words[0] + ", " + std::to_string(*bytes) + ')',
            {{Call::reallocate, words[0], *bytes}});
    }
    void release(const Command &command, const std::string &what, unsigned thread, bool is_fast) {
        const auto range = range_of(command, what);
        if (!range) return;
        std::vector<Action> actions;
        if (!range->is_indexed) {
            actions.push_back({Call::release, range->name, 0});
        } else {
            const std::size_t count = counts_[range->name];
            const std::size_t end = range->is_all ? count : range->last + 1;
            if (count == 0 || end > count) return fail(command.line, what + " is beyond what was allocated");
            for (std::size_t i = range->first; i < end; ++i) {
                std::string name = range->name + '.' + std::to_string(i);
                // Of `a[*]` what is still there.
                if (range->is_all && !live_.contains(name)) continue;
                actions.push_back({Call::release, std::move(name), 0});
            }
        }
        for (const Action &action : actions)
            if (live_.erase(action.name) == 0) return fail(command.line, action.name + " is not in use");
        add_all(
            command, thread, is_fast, actions, [](const std::string &name) { return "free(" + name + ')'; }, what);
    }

    // `a`, `a[3]`, `a[0..4]`, `a[*]`.
    std::optional<Range> range_of(const Command &command, const std::string &text) {
        const std::size_t open = text.find('[');
        Range range{text.substr(0, open)};
        if (open == std::string::npos) return range;
        range.is_indexed = true;
        const std::string inside = text.ends_with(']') ? text.substr(open + 1, text.size() - open - 2) : "";
        if (inside == "*") {
            range.is_all = true;
            return range;
        }
        const std::size_t dots = inside.find("..");
        const auto first = number_of(inside.substr(0, dots));
        const auto last = dots == std::string::npos ? first : number_of(inside.substr(dots + 2));
        if (!first || !last || *last < *first || *last > kMostBlocks) {
            fail(command.line, text + " is no range: write a[3], a[0..4] or a[*]");
            return std::nullopt;
        }
        range.first = *first;
        range.last = *last;
        return range;
    }

    // A step for each action, or one for all.
    void add_all(const Command &command, unsigned thread, bool is_fast, const std::vector<Action> &actions,
                 const auto &text_of, const std::string &all) {
        if (is_fast && !actions.empty()) return add(command, thread, text_of(all), actions);
        bool is_first = true;
        for (const Action &action : actions) {
            Command each{command.line, is_first ? command.note : "", {}, {}};
            add(each, thread, text_of(action.name), {action});
            is_first = false;
        }
    }
    void add(const Command &command, unsigned thread, std::string text, std::vector<Action> actions) {
        if (script_.steps.size() == kMostSteps)
            return fail(command.line, "more than " + std::to_string(kMostSteps) + " steps");
        script_.steps.push_back({command.line, thread, std::move(text), command.note, std::move(actions), false});
    }

    const std::string &text_;
    std::size_t at_ = 0;
    unsigned line_ = 1;
    Script script_;
    std::optional<ScriptError> error_;
    std::set<std::string> live_;
    std::map<std::string, std::size_t> counts_;
    std::set<unsigned> ended_;
};

}  // namespace

std::variant<Script, ScriptError> read_script(const std::string &text) { return Reader(text).read(); }

}  // namespace gr::lab::stage
