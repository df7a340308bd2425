// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/unarrived.hpp"

#include <fmt/format.h>
#include <granary/wire/recording.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>

#include "base/file_text.hpp"
#include "commands/record/process_files.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;

bool has_variable(const std::string &environment, const std::string &variable) {
    const std::string between = '\0' + environment;
    return between.find('\0' + variable + '\0') != std::string::npos;
}

// As a line of /proc/PID/maps ends that is about the shared memory.
std::string end_of_mapping(const SharedRecording &recording) {
    struct stat status {};
    if (::stat(recording.path().c_str(), &status) != 0) return {};
    return fmt::format(" {} ", status.st_ino);
}

bool maps(const std::string &mappings, const std::string &inode) {
    std::size_t at = mappings.find(SharedRecording::kName);
    while (at != std::string::npos) {
        const std::size_t line = mappings.rfind('\n', at) + 1;
        if (!inode.empty() && mappings.substr(line, at - line).find(inode) != std::string::npos) return true;
        at = mappings.find(SharedRecording::kName, at + 1);
    }
    return false;
}

}  // namespace

std::vector<UnarrivedProcess> unarrived_processes(const SharedRecording &recording) {
    std::set<std::uint32_t> known = {static_cast<std::uint32_t>(::getpid())};
    for (std::uint32_t place = 0; place < SharedRecording::kProcesses; ++place)
        known.insert(std::atomic_ref(recording.process(place).id).load(std::memory_order_relaxed));
    const std::uint64_t begin = start_time_of(static_cast<std::uint32_t>(::getpid()));
    const std::string variable = fmt::format("{}={}", GR_RECORDING_PATH, recording.path());
    const std::string inode = end_of_mapping(recording);
    std::vector<UnarrivedProcess> found;
    std::error_code error;
    for (const fs::directory_entry &entry : fs::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename().string();
        std::uint32_t process = 0;
        const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), process);
        if (failure != std::errc() || end != name.data() + name.size() || known.contains(process)) continue;
        if (start_time_of(process) < begin) continue;
        const bool has_mapped = maps(file_text(entry.path() / "maps"), inode);
        if (!has_mapped && !has_variable(file_text(entry.path() / "environ"), variable)) continue;
        const std::string program = fs::read_symlink(entry.path() / "exe", error).filename().string();
        if (!program.empty()) found.push_back({process, program, has_mapped});
    }
    return found;
}

}  // namespace gr::tool
