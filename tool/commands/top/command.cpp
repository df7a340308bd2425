// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary top on the command line: its options, and looking again and again.
// Invariant: nothing is done before all options are parsed. A screen is written at once, over the last one.
// Must not know: any other command.
#include "commands/top/command.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "command_line/command_line.hpp"
#include "command_line/naming_options.hpp"
#include "command_line/whole_number.hpp"
#include "commands/top/report.hpp"
#include "reading/process/process_number.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kRows = 20;     // without --rows and without a terminal
constexpr std::size_t kHeadRows = 7;  // rows of a screen that the head takes
constexpr std::size_t kLeastRows = 5;
constexpr std::size_t kEndless = 1 << 20;  // columns where the output is not a terminal

struct TopRequest {
    std::string subject;  // a process id
    Order order = Order::live;
    std::size_t calls = 4;
    std::size_t rows = 0;  // 0: as many as fit the terminal
    double interval = 2;   // seconds
    bool json = false;
    bool once = false;
    bool whole_names = false;
    std::vector<std::string> wrappers;
};

// If a terminal does not report its size, no line is cut.
std::optional<Screen> terminal() {
    if (::isatty(STDOUT_FILENO) != 1) return {};
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return Screen{kRows, kEndless};
    return Screen{std::max<std::size_t>(size.ws_row, kHeadRows + kLeastRows) - kHeadRows, size.ws_col};
}

Screen screen_for(const TopRequest &request) {
    Screen screen = terminal().value_or(Screen{kRows, kEndless});
    if (request.rows != 0) screen.rows = request.rows;
    screen.has_whole_names = request.whole_names;
    return screen;
}

ExitCode watch(HolderReader &reader, const TopRequest &request) {
    constexpr const char *kHomeAndClear = "\033[H\033[J";
    for (;;) {
        const Holders holders = reader.read(request.order, request.calls);
        print(kHomeAndClear + top_text(holders, screen_for(request)));
        std::this_thread::sleep_for(std::chrono::duration<double>(request.interval));
    }
}

ExitCode top(const TopRequest &request) {
    const std::optional<int> process = process_number(request.subject);
    if (!process) {
        throw Failure(ExitCode::usage,
                      fmt::format("{} is not a process id; see 'granary top --help'", in_quotes(request.subject)));
    }
    HolderReader reader(*process, request.wrappers);
    if (!request.json && !request.once && terminal()) return watch(reader, request);
    const Holders holders = reader.read(request.order, request.calls);
    print(request.json ? top_json(holders) : top_text(holders, screen_for(request)));
    return ExitCode::success;
}

}  // namespace

void add_top(CommandLine &line) {
    const auto request = std::make_shared<TopRequest>();
    Command &command = line.add("top", "Show which calls hold the memory of a running process that takes a profile",
                                "granary top [OPTIONS] PID");
    CLI::App &options = *command.options;
    const std::map<std::string, Order> orders{
        {"live", Order::live}, {"peak", Order::peak}, {"allocated", Order::allocated}};
    options.add_option("PID", request->subject, "A process id")->required()->type_name("");
    options
        .add_option("--sort", request->order,
                    "Order by memory in use now, in use at the peak, or allocated (default: live)")
        ->type_name("live|peak|allocated")
        ->transform(CLI::CheckedTransformer(orders).description(""));
    options
        .add_option("--calls", request->calls,
                    "How many calls tell one row from another: the function that wanted the memory, and its callers "
                    "(default: 4)")
        ->type_name("NUMBER")
        ->check(CLI::Range(1, 64).description(""));
    options
        .add_option("--rows", request->rows, "Largest number of rows (default: as many as fit the terminal, else 20)")
        ->type_name("NUMBER")
        ->check(positive_whole_number());
    options.add_option("--interval", request->interval, "Refresh after so many seconds (default: 2)")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.1, 3600.0).description(""));
    options.add_flag("--once", request->once, "Print once, as when standard output is not a terminal");
    options.add_flag("--json", request->json, "Print everything once, as JSON");
    add_wrappers(options, &request->wrappers);
    add_whole_names(options, &request->whole_names);
    options.footer(
        "The process must have been started with GRANARY_PROFILE, or have called gr_profile_start. It is neither\n"
        "stopped nor changed. granary top ends on Ctrl-C, or when the process ends.\n"
        "Exit status: 0; 1 if the process takes no profile; 127 if there is no such process or it ends; 125 if the\n"
        "process may not be read or granary itself fails; 2 if the command line is wrong.");
    command.work = [request] { return top(*request); };
}

}  // namespace gr::tool
