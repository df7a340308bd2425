// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary doctor on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/doctor/command.hpp"

#include <memory>
#include <optional>

#include "base/output.hpp"
#include "command_line/command_line.hpp"
#include "commands/doctor/environment.hpp"
#include "commands/doctor/report.hpp"
#include "reading/diagnosis/process_diagnosis.hpp"
#include "reading/diagnosis/program_diagnosis.hpp"
#include "reading/process/process_number.hpp"

namespace gr::tool {

namespace {

struct DoctorRequest {
    std::string subject;  // a program, or a process id
    bool json = false;
};

ExitCode doctor(const DoctorRequest &request) {
    const std::optional<int> process = process_number(request.subject);
    const Diagnosis diagnosis =
        process ? diagnose_process(*process) : diagnose_program(request.subject, Depth::libraries);
    const std::vector<Fact> facts = environment_facts();
    print(request.json ? json_report(diagnosis, facts) : text_report(diagnosis, facts, colour_wanted()));
    return diagnosis.verdict() == Verdict::yes ? ExitCode::success : ExitCode::not_runnable;
}

}  // namespace

void add_doctor(CommandLine &line) {
    const auto request = std::make_shared<DoctorRequest>();
    Command &command = line.add("doctor", "Show whether a program can run on Granary, or which malloc a process uses",
                                "granary doctor [OPTIONS] PROGRAM|PID");
    CLI::App &options = *command.options;
    options.add_option("PROGRAM|PID", request->subject, "A program on PATH, a file, or a process id")
        ->required()
        ->type_name("");
    options.add_flag("--json", request->json, "Print JSON");
    options.footer(
        "The first line is the verdict (yes, partly or no) and its reason. The program is not run.\n"
        "Exit status: 0 for yes, 1 for partly or no; 127 if there is no such program or process;\n"
        "125 if granary itself fails; 2 if the command line is wrong.");
    command.work = [request] { return doctor(*request); };
}

}  // namespace gr::tool
