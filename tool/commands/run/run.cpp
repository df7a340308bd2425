// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/run/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "reading/allocators/chosen_allocator.hpp"
#include "reading/allocators/granary_library.hpp"
#include "reading/diagnosis/program_diagnosis.hpp"

namespace gr::tool {

namespace {

constexpr std::string_view kPrefix = "GRANARY_";

void set_option(const std::string &name, const std::string &value) {
    set_variable((std::string(kPrefix) + name).c_str(), value);
}

// "retain=1M" and "GRANARY_RETAIN=1M" are equivalent. The library warns if there is no such option.
void apply_setting(const std::string &setting) {
    const std::size_t equals = setting.find('=');
    std::string name = setting.substr(0, equals);
    for (char &letter : name) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
    const bool known_letters = name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
    if (equals == std::string::npos || name.empty() || !known_letters) {
        throw Failure(ExitCode::usage,
                      fmt::format("--set {}: expected NAME=VALUE, as in --set RETAIN=1M; see 'granary options'",
                                  in_quotes(setting)));
    }
    set_option(name, setting.substr(equals + 1));
}

void warn(const RunRequest &request) {
    const std::string &program = request.command.front();
    const std::string allocator = request.allocator.empty() ? "Granary" : request.allocator;
    try {
        const Diagnosis diagnosis = diagnose_program(program, Depth::program);
        const Finding *reason = diagnosis.reason();
        if (reason == nullptr || reason->kind == "not-executable") return;  // execvp reports the latter
        complain(fmt::format("run: {}: {} {}: {}", program,
                             diagnosis.verdict() == Verdict::no ? "not on" : "only partly on", allocator,
                             diagnosis.summary()));
    } catch (const Failure &) {
        return;  // no such program: execvp reports it
    }
}

void put_in_front(const RunRequest &request) {
    const ChosenAllocator allocator = choose_allocator(request.allocator);
    for (const auto &[name, value] : allocator.environment) set_variable(name.c_str(), value);
    if (allocator.library.empty()) return;  // the program's own
    if (!request.quiet) warn(request);
    preload(allocator.library);
}

void put_granary_in_front(const RunRequest &request) {
    const std::string library = find_library(request.library);
    if (request.collector) return put_collector_first(library);
    if (!request.quiet) warn(request);
    preload(request.collecting_malloc || request.quarantine ? collecting_library(library) : library);
}

}  // namespace

void run_program(const RunRequest &request) {
    for (const std::string &setting : request.settings) apply_setting(setting);
    if (!request.stats.empty()) set_option("STATS", request.stats);
    if (request.no_rseq) set_option("RSEQ", "off");
    if (request.quarantine) set_option("QUARANTINE", "on");
    if (request.junk) set_option("JUNK", "all");
    request.allocator.empty() ? put_granary_in_front(request) : put_in_front(request);
    std::vector<char *> arguments;
    arguments.reserve(request.command.size() + 1);
    for (const std::string &word : request.command) arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments.front(), arguments.data());
    const int error = errno;
    throw Failure(error == ENOENT ? ExitCode::not_found : ExitCode::cannot_invoke,
                  fmt::format("{}: {}", in_quotes(request.command.front()), std::generic_category().message(error)));
}

}  // namespace gr::tool
