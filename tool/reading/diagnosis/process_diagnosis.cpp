// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which malloc a running process uses, told from the files it has mapped.
// Invariant: reads /proc only; the process is neither stopped nor traced.
// Must not know: how a program that is not running is judged.
#include "reading/diagnosis/process_diagnosis.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "base/failure.hpp"
#include "reading/allocators/allocators.hpp"
#include "reading/allocators/malloc_symbols.hpp"
#include "reading/diagnosis/program_diagnosis.hpp"
#include "reading/process/elf_file.hpp"
#include "reading/process/process_memory.hpp"

namespace gr::tool {

namespace {

std::string process_file(int process, std::string_view name) { return fmt::format("/proc/{}/{}", process, name); }

// The path that a line of maps ends with; empty for anonymous and special mappings.
std::string mapped_path(const std::string &line) {
    const std::size_t start = line.find('/');
    if (start == std::string::npos) return {};
    return line.substr(start);
}

std::vector<std::string> mapped_files(int process) {
    std::ifstream maps(process_file(process, "maps"));
    if (!maps) fail_to_look(process, errno);
    std::vector<std::string> result;
    std::set<std::string> seen;
    bool any = false;
    for (std::string line; std::getline(maps, line);) {
        any = true;
        std::string path = mapped_path(line);
        if (!path.empty() && seen.insert(path).second) result.push_back(std::move(path));
    }
    if (!any) fail_ended(process);
    return result;
}

std::string executable_of(int process) {
    std::string path(4096, '\0');
    const ssize_t length = ::readlink(process_file(process, "exe").c_str(), path.data(), path.size());
    if (length < 0) fail_to_look(process, errno);
    path.resize(static_cast<std::size_t>(length));
    return path;
}

// A file as the process sees it (it may live in another root), or not at all when it was deleted since.
bool defines_malloc(int process, const std::string &path) {
    try {
        const ElfFile file(process_file(process, "root") + path);
        return file.format() == ElfFormat::native && exports_malloc(file);
    } catch (const std::system_error &) {
        return false;  // not an object that could be read: data, a device, or replaced on disk
    }
}

struct Mapped {
    bool own = false;        // the executable exports malloc
    bool contained = false;  // Granary is linked into the executable
    std::string granary;     // libgranary.so's path, or libgranary-gcmalloc.so's
    std::string collector;   // libgranary-gc.so's
    std::string other_collector;
    std::vector<std::string> others;
};

Mapped look_at(int process, const std::string &executable) {
    Mapped result;
    const ElfFile program(process_file(process, "exe"));
    result.contained = contains_granary(program);
    result.own = exports_malloc(program);
    for (const std::string &path : mapped_files(process)) {
        if (is_granary_library(path)) {
            result.granary = path;
        } else if (is_granary_collector(path)) {
            result.collector = path;
        } else if (is_other_collector(path)) {
            result.other_collector = path;
        } else if (path != executable && !is_system_library(path) && defines_malloc(process, path)) {
            result.others.push_back(path);
        }
    }
    return result;
}

void advise(const std::string &executable, Diagnosis &diagnosis) {
    if (::access(executable.c_str(), F_OK) != 0) return;
    const Diagnosis program = diagnose_program(executable, Depth::libraries);
    if (program.verdict() == Verdict::yes) {
        diagnosis.add(Weight::note, "program",
                      fmt::format("if granary run starts it, {} will use Granary", executable));
    } else {
        diagnosis.add(Weight::note, "program", fmt::format("about {}: {}", executable, program.summary()));
    }
}

void add_malloc_of_others(const Mapped &mapped, const std::string &executable, Diagnosis &diagnosis) {
    const std::string name = mapped.others.empty() ? "the C library's malloc" : mapped.others.front();
    if (mapped.collector.empty()) {
        diagnosis.add(Weight::stops, "other-malloc",
                      fmt::format("it runs on {}; a running process cannot change its malloc", name));
    } else {
        diagnosis.add(Weight::limits, "other-malloc",
                      fmt::format("it runs on {}, but its collector is Granary's ({})", name, mapped.collector));
    }
    advise(executable, diagnosis);
}

void add_other_collector(const std::string &collector, Diagnosis &diagnosis) {
    if (collector.empty()) return;
    diagnosis.add(Weight::note, "collector",
                  fmt::format("its garbage collector is {}; if granary run --gc starts it, it uses Granary's collector",
                              collector));
}

}  // namespace

Diagnosis diagnose_process(int process) {
    struct stat status {};
    if (::stat(process_file(process, "").c_str(), &status) != 0) {
        throw Failure(ExitCode::not_found, fmt::format("no process {}", process));
    }
    const std::string executable = executable_of(process);
    Diagnosis diagnosis{
        .subject = fmt::format("{}", process), .path = executable, .process = process, .success = {}, .findings = {}};
    Mapped mapped;
    try {
        mapped = look_at(process, executable);
    } catch (const std::system_error &error) {
        fail_to_look(process, error.code().value());
    }
    if (mapped.contained) {
        diagnosis.success = "it runs on Granary, which is linked into it";
    } else if (mapped.own) {
        diagnosis.add(Weight::stops, "own-malloc",
                      fmt::format("it runs on a malloc of its own, exported by {}", executable));
        if (!mapped.granary.empty())
            diagnosis.add(Weight::note, "loaded",
                          fmt::format("{} is loaded, but after another malloc", mapped.granary));
    } else if (!mapped.granary.empty()) {
        const std::string collector =
            mapped.collector.empty() ? "" : fmt::format(", and its collector is Granary's ({})", mapped.collector);
        diagnosis.success = fmt::format("it runs on Granary ({}){}", mapped.granary, collector);
        for (const std::string &other : mapped.others) {
            diagnosis.add(Weight::note, "library-malloc",
                          fmt::format("{} has a malloc too; the malloc that was loaded first is in use", other));
        }
    } else {
        add_malloc_of_others(mapped, executable, diagnosis);
    }
    add_other_collector(mapped.other_collector, diagnosis);
    return diagnosis;
}

}  // namespace gr::tool
