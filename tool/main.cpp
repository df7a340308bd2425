// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      the command granary: its command line, and nothing else.
// Invariant: results go to stdout, errors as one line to stderr; every way out has a code of ExitCode.
// Must not know: how a subcommand does its work.
#include <fmt/format.h>
#include <granary/granary.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <system_error>

#include "base/failure.hpp"
#include "base/picture.hpp"
#include "base/text.hpp"
#include "bench/bench.hpp"
#include "collections/collections.hpp"
#include "collections/picture.hpp"
#include "diagnosis/program_diagnosis.hpp"
#include "doctor/environment.hpp"
#include "doctor/report.hpp"
#include "heap/heap_map.hpp"
#include "leaks/leaks.hpp"
#include "options/options.hpp"
#include "run/run.hpp"
#include "why/heap_picture.hpp"
#include "why/report.hpp"

namespace gr::tool {

namespace {

std::string version_text() {
    return fmt::format("granary {}.{}.{}\n", GR_VERSION_MAJOR, GR_VERSION_MINOR, GR_VERSION_PATCH);
}

void print(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written) {
        throw Failure(ExitCode::kToolFailure, fmt::format("cannot write: {}", std::generic_category().message(errno)));
    }
}

// CLI11's own usage line cannot show operands that it does not parse.
class UsageFormatter : public CLI::Formatter {
  public:
    explicit UsageFormatter(std::string usage) : usage_(std::move(usage)) { column_width(26); }
    std::string make_usage(const CLI::App * /*app*/, std::string /*name*/) const override {
        return fmt::format("\nUsage: {}\n", usage_);
    }
    // A flag with a value shows it as it is to be written.
    std::string make_option_name(const CLI::Option *option, bool positional) const override {
        std::string name = CLI::Formatter::make_option_name(option, positional);
        const std::size_t brace = name.find('{');
        return brace == std::string::npos ? name : name.substr(0, brace) + kStatsValues;
    }
    std::string make_option_opts(const CLI::Option *option) const override {
        return option->get_type_name().empty() ? "" : " " + option->get_type_name();
    }

  private:
    static constexpr const char *kStatsValues = "[=text|json]";
    std::string usage_;
};

struct CommandLine {
    CLI::App app{"Granary, a malloc for Linux programs: runs them on it, and says whether they can be."};
    RunRequest run_request;
    LeaksRequest leaks_request;
    std::vector<std::string> bench_arguments;
    std::string doctor_subject;
    std::string options_library;
    std::string collections_file;
    std::string collections_picture;
    bool collections_json = false;
    std::string why_subject;
    std::string why_picture;
    bool why_json = false;
    bool why_map = false;
    bool doctor_json = false;
    bool options_json = false;
    bool under_library = false;
    CLI::App *run = nullptr;
    CLI::App *leaks = nullptr;
    CLI::App *doctor = nullptr;
    CLI::App *why = nullptr;
    CLI::App *collections = nullptr;
    CLI::App *options = nullptr;
    CLI::App *bench = nullptr;
    CLI::App *version = nullptr;
};

CLI::App *add_command(CommandLine &line, const std::string &name, const std::string &description,
                      const std::string &usage) {
    CLI::App *command = line.app.add_subcommand(name, description);
    command->formatter(std::make_shared<UsageFormatter>(usage));
    command->set_help_flag("-h,--help", "Print this help and exit");
    return command;
}

void add_run(CommandLine &line) {
    line.run = add_command(line, "run", "Run a program on Granary", "granary run [OPTIONS] [--] PROGRAM [ARGUMENT]...");
    RunRequest &request = line.run_request;
    line.run->add_flag("--stats{text}", request.stats, "Print statistics to stderr when the program ends")
        ->type_name("")
        ->check(CLI::IsMember({"text", "json"}).description(""));
    line.run->add_flag("--gc", request.collector,
                       "Put Granary's collector in the place of libgc.so.1, and leave malloc alone");
    line.run->add_flag("--gc-malloc", request.collecting_malloc,
                       "Have malloc's memory collected when nothing points to it");
    line.run->add_flag("--quarantine", request.quarantine,
                       "Hold back what is freed until nothing points to it (sets GRANARY_QUARANTINE=on)");
    line.run->add_flag("--no-rseq", request.no_rseq, "Go without restartable sequences (sets GRANARY_RSEQ=off)");
    line.run->add_option("--set", request.settings, "Set the library's option GRANARY_NAME; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    line.run->add_option("--library", request.library, "Use this libgranary.so")->type_name("PATH");
    line.run->add_flag("-q,--quiet", request.quiet, "No warning when the program cannot run on Granary");
    line.run->footer(
        "Exit status: the program's own; 127 when it is not found, 126 when it cannot be started,\n"
        "125 when granary itself fails, 2 for a wrong command line.\n"
        "Example: granary run --stats --set RETAIN=1M python3 script.py");
}

void add_leaks(CommandLine &line) {
    line.leaks = add_command(line, "leaks", "Run a program and tell what it allocated and lost",
                             "granary leaks [OPTIONS] [--] PROGRAM [ARGUMENT]... | granary leaks [OPTIONS] --pid PID");
    LeaksRequest &request = line.leaks_request;
    line.leaks->add_option("--pid", request.process, "Ask a process that runs under granary leaks, now")
        ->type_name("PID")
        ->check(CLI::PositiveNumber.description(""));
    line.leaks->add_option("--suppressions", request.suppressions, "Leave out what this file names; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
    line.leaks->add_flag("--json", request.json, "As JSON");
    line.leaks->add_option("--output", request.output, "Write there, not to standard error")->type_name("FILE");
    line.leaks->add_option("--exit-code", request.exit_code, "The status where something leaked, instead of 23")
        ->type_name("NUMBER")
        ->check(CLI::Range(0, 255).description(""));
    line.leaks->add_option("--library", request.library, "Use what lies beside this libgranary.so")->type_name("PATH");
    line.leaks->footer(
        "Exit status: 23 when something leaked; else the program's own, or 128 and its signal. 127 when it is\n"
        "not found, 126 when it cannot be started, 125 when granary itself fails, 2 for a wrong command line.\n"
        "Example: granary leaks --suppressions known.txt git log");
}

void add_doctor(CommandLine &line) {
    line.doctor = add_command(line, "doctor", "Say whether a program can run on Granary, or what a process runs on",
                              "granary doctor [OPTIONS] PROGRAM|PID");
    line.doctor->add_option("PROGRAM|PID", line.doctor_subject, "A program on PATH, a file, or the number of a process")
        ->required()
        ->type_name("");
    line.doctor->add_flag("--json", line.doctor_json, "As JSON");
    line.doctor->footer(
        "The first line is the verdict: yes, partly or no, and why.\n"
        "Exit status: 0 for yes, 1 for partly and no, 127 when there is no such program or process,\n"
        "125 when granary itself fails, 2 for a wrong command line.");
}

void add_why(CommandLine &line) {
    line.why = add_command(line, "why", "Say why the resident set of a process on Granary is as large as it is",
                           "granary why [OPTIONS] PID");
    line.why->add_option("PID", line.why_subject, "The number of a process")->required()->type_name("");
    CLI::Option *json = line.why->add_flag("--json", line.why_json, "As JSON");
    line.why->add_flag("--map", line.why_map, "Draw the heap too: how full its resident memory is")->excludes(json);
    line.why->add_option("--svg", line.why_picture, "Write that map as a picture")->type_name("FILE");
    line.why->footer(
        "The process is neither stopped nor changed; its parts are those of one moment, or nearly so.\n"
        "Exit status: 0, or 1 when the process does not run on Granary, 127 when there is no such process,\n"
        "125 when it may not be looked at or granary itself fails, 2 for a wrong command line.");
}

void add_collections(CommandLine &line) {
    line.collections = add_command(line, "collections", "Say how often and how long a collector stopped its programs",
                                   "granary collections [OPTIONS] FILE");
    line.collections->add_option("FILE", line.collections_file, "What GRANARY_COLLECTIONS named when they ran")
        ->required()
        ->type_name("");
    line.collections->add_flag("--json", line.collections_json, "As JSON");
    line.collections
        ->add_option("--svg", line.collections_picture, "Write the heap and the pauses over time as a picture")
        ->type_name("FILE");
    line.collections->footer(
        "Exit status: 0; 127 when the file is not there or tells of no collection, 125 when it is another's or\n"
        "granary itself fails, 2 for a wrong command line.\n"
        "Example: granary run --gc --set COLLECTIONS=/tmp/log guile x.scm; granary collections /tmp/log");
}

void add_options(CommandLine &line) {
    line.options = add_command(line, "options", "Print the library's options, their values and where these come from",
                               "granary options [OPTIONS]");
    line.options->add_flag("--json", line.options_json, "As JSON");
    line.options->add_option("--library", line.options_library, "Use this libgranary.so")->type_name("PATH");
    line.options->add_flag(kUnderLibraryFlag, line.under_library)->group("");
    line.options->footer("Example: GRANARY_RETAIN=1M granary options");
}

void add_commands(CommandLine &line) {
    line.app.name("granary");
    line.app.formatter(std::make_shared<UsageFormatter>("granary COMMAND [OPTIONS] ..."));
    line.app.set_help_flag("-h,--help", "Print this help and exit");
    line.app.set_version_flag("-V,--version", version_text(), "Print the version and exit");
    line.app.require_subcommand(1);
    line.app.footer("'granary COMMAND --help' tells more. See also granary(1).");
    add_run(line);
    add_leaks(line);
    add_doctor(line);
    add_why(line);
    add_collections(line);
    add_options(line);
    line.bench = add_command(line, "bench", "Compare allocators on the papers' benchmarks and real programs",
                             "granary bench [OPTIONS]");
    line.version = add_command(line, "version", "Print the version", "granary version");
}

// Where the program begins among run's arguments: its own words must not be taken for granary's.
std::size_t program_start(const CLI::App &run, std::span<char *> words) {
    std::size_t index = 0;
    while (index < words.size()) {
        const std::string word = words[index];
        if (word == "--") return index;
        if (!word.starts_with('-') || word == "-") return index;
        const CLI::Option *option = run.get_option_no_throw(word);
        const bool value_follows = option != nullptr && option->get_items_expected_min() > 0;
        index += value_follows ? 2 : 1;
    }
    return words.size();
}

// Cuts the program and its arguments off, or the bench's; what is left is granary's.
std::vector<std::string> split_command(CommandLine &line, std::span<char *> words) {
    if (words.empty()) return {};
    words = words.subspan(1);
    std::size_t end = words.size();
    if (!words.empty() && words.front() == line.bench->get_name()) {
        end = 1;
        line.bench_arguments.assign(words.begin() + 1, words.end());
    }
    const auto cut_program = [&](const CLI::App &starter, std::vector<std::string> &program) {
        if (words.empty() || words.front() != starter.get_name()) return;
        end = std::min(1 + program_start(starter, words.subspan(1)), words.size());
        const bool marked = end < words.size() && std::string_view(words[end]) == "--";
        const std::span<char *> command = words.subspan(marked ? end + 1 : end);
        program.assign(command.begin(), command.end());
    };
    cut_program(*line.run, line.run_request.command);
    cut_program(*line.leaks, line.leaks_request.command);
    return {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(end)};
}

// The number of a process, or nothing where something else is written.
std::optional<int> process_number(const std::string &subject) {
    if (subject.empty() || subject.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    int process = 0;
    const auto parsed = std::from_chars(subject.data(), subject.data() + subject.size(), process);
    if (parsed.ec != std::errc{}) throw Failure(ExitCode::kNotFound, fmt::format("no process {}", subject));
    return process;
}

ExitCode run_collections(const CommandLine &line) {
    const std::vector<ProcessCollections> processes = read_collections(line.collections_file);
    if (!line.collections_picture.empty()) write_picture(collections_picture(processes), line.collections_picture);
    print(line.collections_json ? collections_json(processes) : collections_text(processes));
    return ExitCode::kSuccess;
}

ExitCode run_why(const CommandLine &line) {
    const std::optional<int> process = process_number(line.why_subject);
    if (!process) {
        throw Failure(ExitCode::kUsage, fmt::format("{} is not the number of a process; see 'granary why --help'",
                                                    in_quotes(line.why_subject)));
    }
    const Explanation explanation = explain(*process);
    if (!line.why_picture.empty()) write_picture(heap_picture(explanation), line.why_picture);
    print(line.why_json ? why_json(explanation) : why_text(explanation));
    if (line.why_map) print(terminal_map(explanation.heaps));
    return ExitCode::kSuccess;
}

ExitCode run_doctor(const CommandLine &line) {
    const std::string &subject = line.doctor_subject;
    const std::optional<int> process = process_number(subject);
    const Diagnosis diagnosis = process ? diagnose_process(*process) : diagnose_program(subject, Depth::kLibraries);
    const std::vector<Fact> facts = environment_facts();
    print(line.doctor_json ? json_report(diagnosis, facts) : text_report(diagnosis, facts, colour_wanted()));
    return diagnosis.verdict() == Verdict::kYes ? ExitCode::kSuccess : ExitCode::kNotRunnable;
}

int run_leaks(const LeaksRequest &request) {
    if (request.command.empty() == request.process.has_value()) return find_leaks(request);
    throw Failure(ExitCode::kUsage, "give either a program or --pid PID; see 'granary leaks --help'");
}

ExitCode dispatch(const CommandLine &line) {
    if (line.run->parsed()) {
        if (!line.run_request.command.empty()) run_program(line.run_request);
        throw Failure(ExitCode::kUsage, "no program given; see 'granary run --help'");
    }
    if (line.leaks->parsed()) return static_cast<ExitCode>(run_leaks(line.leaks_request));
    if (line.bench->parsed()) run_bench(line.bench_arguments);
    if (line.doctor->parsed()) return run_doctor(line);
    if (line.why->parsed()) return run_why(line);
    if (line.collections->parsed()) return run_collections(line);
    if (line.options->parsed()) {
        if (!line.under_library) restart_under_library(line.options_library, line.options_json);
        print_options(line.options_json);
    }
    if (line.version->parsed()) print(version_text());
    return ExitCode::kSuccess;
}

std::string command_name(const CommandLine &line) {
    const std::vector<CLI::App *> used = line.app.get_subcommands();
    return used.empty() ? "" : used.front()->get_name();
}

// CLI11 leaves a second empty line where a group of hidden options stands.
std::string help_text(const CommandLine &line) {
    std::string text = line.app.help();
    for (std::size_t gap = text.find("\n\n\n"); gap != std::string::npos; gap = text.find("\n\n\n")) text.erase(gap, 1);
    return text;
}

int fail(const CommandLine &line, ExitCode code, const std::string &what) {
    const std::string name = command_name(line);
    complain(name.empty() ? what : fmt::format("{}: {}", name, what));
    return static_cast<int>(code);
}

ExitCode parse_and_run(CommandLine &line, std::span<char *> words) {
    add_commands(line);
    std::vector<std::string> arguments = split_command(line, words);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants a vector
    try {
        line.app.parse(arguments);
    } catch (const CLI::CallForVersion &) {
        print(version_text());
        return ExitCode::kSuccess;
    } catch (const CLI::CallForHelp &) {
        print(help_text(line));
        return ExitCode::kSuccess;
    } catch (const CLI::ParseError &error) {
        const std::string name = command_name(line);
        throw Failure(ExitCode::kUsage,
                      fmt::format("{}; see 'granary {}{}--help'", error.what(), name, name.empty() ? "" : " "));
    }
    return dispatch(line);
}

int command(std::span<char *> words) {
    CommandLine line;
    try {
        return static_cast<int>(parse_and_run(line, words));
    } catch (const Failure &failure) {
        return fail(line, failure.code(), failure.what());
    } catch (const std::exception &error) {
        return fail(line, ExitCode::kToolFailure, error.what());
    }
}

}  // namespace

}  // namespace gr::tool

int main(int argc, char **argv) {
    try {
        return gr::tool::command({argv, static_cast<std::size_t>(argc)});
    } catch (...) {  // not even the complaint could be made
        std::fputs("granary: out of memory\n", stderr);
        return static_cast<int>(gr::tool::ExitCode::kToolFailure);
    }
}
