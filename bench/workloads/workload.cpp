// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the part of the frame that is the same for every workload: its options and its report.
// Invariant: as workload.hpp.
// Must not know: any workload.
#include <fstream>

#include "workload.hpp"

namespace gr::bench {

namespace {

// In KiB, of this program alone: getrusage would count what the process was before exec, too.
unsigned long peak_memory() {
    std::ifstream status("/proc/self/status");
    std::string word;
    unsigned long kib = 0;
    while (status >> word)
        if (word == "VmHWM:") status >> kib;
    return kib;
}

}  // namespace

Workload::Workload(std::string name, const std::string &summary, Settings defaults)
    : name_(std::move(name)), settings_(defaults), options_(summary, name_) {
    options_.number("--threads", settings_.threads, "threads", {1, 4096});
    options_.seconds("--seconds", settings_.seconds, "stop after so many seconds");
    options_.number("--ops", settings_.operations, "stop after so many operations of all threads together", {1});
    options_.number("--seed", settings_.seed, "of the pseudo-random numbers");
    options_.exclude("--ops", "--seconds");
}

bool Workload::parse(int argc, char **argv) {
    if (!options_.parse(argc, argv)) return false;
    // What was asked for excludes the other default.
    if (options_.given("--ops")) settings_.seconds = 0;
    if (options_.given("--seconds")) settings_.operations = 0;
    if (settings_.seconds == 0 && settings_.operations == 0) settings_.seconds = 1;
    return true;
}

int Workload::report() const {
    std::printf("{\"workload\": \"%s\", \"threads\": %zu, \"seed\": %llu, \"seconds\": %.6f, \"operations\": %llu, ",
                name_.c_str(), settings_.threads, static_cast<unsigned long long>(settings_.seed), seconds_,
                static_cast<unsigned long long>(operations_));
    std::printf("\"operations_per_second\": %.1f, ", static_cast<double>(operations_) / seconds_);
    for (const auto &[key, value] : notes_) std::printf("\"%s\": %.10g, ", key.c_str(), value);
    std::printf("\"peak_kib\": %lu}\n", peak_memory());
    return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gr::bench
