// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the command line of the drivers, and the run of one byte string in this process (--replay).
// Invariant: --replay allocates nothing of its own before its first operation, and leaves without destructors.
// Must not know: how byte strings are made or shrunk.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>

#include "campaign.hpp"
#include "internals.hpp"
#include "replay.hpp"

namespace gr::fuzz {

namespace {

constexpr int kBroken = 2;  // the harness, not the allocator
constexpr std::size_t kMostRecords = 100000;
std::array<std::uint8_t, kMostRecords * kRecordBytes> g_bytes;  // static: reading must not allocate
std::array<Operation, kMostRecords> g_operations;

// How many operations the file holds, or -1.
std::ptrdiff_t read_operations(const char *path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    std::size_t length = 0;
    ssize_t got = 0;
    while ((got = read(file, g_bytes.data() + length, g_bytes.size() - length)) > 0) {
        length += static_cast<std::size_t>(got);
    }
    close(file);
    if (got < 0) return -1;
    const std::size_t count = length / kRecordBytes;
    for (std::size_t i = 0; i < count; ++i) {
        g_operations[i] = decode(std::span(g_bytes).subspan(i * kRecordBytes).first<kRecordBytes>());
    }
    return static_cast<std::ptrdiff_t>(count);
}

// The loader ignores a library that it cannot preload; a run on another allocator would then prove nothing.
bool provided_by(const char *allocator) {
    char wanted[PATH_MAX];
    char found[PATH_MAX];
    const EntryPoints entry = EntryPoints::find();
    if (realpath(allocator, wanted) == nullptr || realpath(entry.provider(), found) == nullptr) return false;
    return std::strcmp(wanted, found) == 0;
}

int replay_file(const char *path, const char *allocator, bool internals) {
    if (allocator != nullptr && !provided_by(allocator)) {
        std::fprintf(stderr, "fuzz: %s does not provide malloc here; check that it can be preloaded\n", allocator);
        return kBroken;
    }
    const std::ptrdiff_t count = read_operations(path);
    if (count < 0) {
        std::fprintf(stderr, "fuzz: cannot read %s: %s; give a file of records\n", path, std::strerror(errno));
        return kBroken;
    }
    const std::span<const Operation> operations(g_operations.data(), static_cast<std::size_t>(count));
    if (!internals) return replay(operations);
    Internals inspector;
    if (!inspector.present()) {
        std::fprintf(stderr, "fuzz: this allocator has no gr_statistics_get; preload libgranary.so\n");
        return kBroken;
    }
    return replay(operations, &inspector);
}

void pin_to_one_cpu() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) throw std::runtime_error("cannot read the CPU affinity");
    int first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    CPU_ZERO(&allowed);
    CPU_SET(first, &allowed);
    if (sched_setaffinity(0, sizeof allowed, &allowed) != 0) throw std::runtime_error("cannot pin to one CPU");
}

int run_campaign(int argc, char **argv) {
    Settings settings;
    std::string file;
    CLI::App app{"Fuzzes a malloc against a model. Children run on the allocator, this process does not."};
    app.add_option("--allocator", settings.allocator, "library to preload into the children")->check(CLI::ExistingFile);
    app.add_option("--seed", settings.seed, "seed of the byte strings")->capture_default_str();
    app.add_flag("--random", settings.random, "take a seed that nobody knows, and print it");
    app.add_option("--runs", settings.runs, "byte strings to try")->capture_default_str();
    app.add_option("--length", settings.length, "operations in each")
        ->capture_default_str()
        ->check(CLI::Range(std::size_t{1}, kMostRecords));
    app.add_option("--keep", settings.keep, "folder for the files of a failure")->capture_default_str();
    app.add_option("--expect", settings.expect, "succeed only on a failure with this text");
    app.add_option("--ignore", settings.ignore, "go on after a failure with this text");
    app.add_flag("--one-cpu", settings.one_cpu, "stay on one CPU");
    app.add_option("--replay", file, "run this file's operations in this process (give this option first)");
    CLI11_PARSE(app, argc, argv);
    if (!settings.allocator.empty()) settings.allocator = std::filesystem::absolute(settings.allocator);
    if (settings.one_cpu) pin_to_one_cpu();
    return Campaign(settings).run();
}

}  // namespace

int drive(int argc, char **argv, bool internals) {
    const bool replays = argc >= 3 && std::strcmp(argv[1], "--replay") == 0;
    const bool named = argc == 5 && std::strcmp(argv[3], "--on") == 0;
    if (replays) _exit(replay_file(argv[2], named ? argv[4] : nullptr, internals));
    try {
        return run_campaign(argc, argv);
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return kBroken;
    }
}

}  // namespace gr::fuzz
