// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/process_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <granary/granary.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/file_text.hpp"
#include "reading/process/elf_file.hpp"

namespace gr::tool {

namespace {

std::string path_of(std::uint32_t process, const char *name) { return fmt::format("/proc/{}/{}", process, name); }

std::vector<std::string> words_of(const std::string &text, char separator) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, separator);) words.push_back(std::move(word));
    return words;
}

std::string machine() {
    std::string cpu = "unknown CPU";
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) {
            cpu = line.substr(colon + 2);
            break;
        }
    }
    utsname system{};
    ::uname(&system);
    return fmt::format("{}, {} {} {}", cpu, &system.sysname[0], &system.release[0], &system.machine[0]);
}

}  // namespace

trace::Start describe_process(std::uint32_t process) {
    trace::Start start;
    std::error_code error;
    start.program = std::filesystem::read_symlink(path_of(process, "exe"), error).string();
    start.arguments = words_of(file_text(path_of(process, "cmdline")), '\0');
    start.process = process;
    start.parent = parent_of(process);
    start.page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    struct sysinfo info {};
    if (::sysinfo(&info) == 0) start.physical_bytes = std::uint64_t{info.totalram} * info.mem_unit;
    start.cpus = std::thread::hardware_concurrency();
    start.machine = machine();
    start.recorder = fmt::format("{}.{}.{}", GR_VERSION_MAJOR, GR_VERSION_MINOR, GR_VERSION_PATCH);
    return start;
}

ProcessStatus::ProcessStatus(std::uint32_t process) {
    const std::string text = file_text(path_of(process, "stat"));
    const std::size_t name_end = text.rfind(')');  // the name may hold anything
    if (name_end == std::string::npos) return;
    for (const std::string &word : words_of(text.substr(name_end + 1), ' ')) {
        if (word.empty()) continue;
        std::uint64_t number = 0;  // of the state, a letter, and of negative numbers, nothing is asked
        std::from_chars(word.data(), word.data() + word.size(), number);
        fields_.push_back(number);
    }
}

std::uint64_t ProcessStatus::field(unsigned number) const {
    constexpr unsigned kFirst = 3;
    return number - kFirst < fields_.size() ? fields_[number - kFirst] : 0;
}

std::vector<int> threads_of(std::uint32_t process) {
    std::vector<int> threads;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(path_of(process, "task"), error)) {
        const std::string name = entry.path().filename().string();
        int thread = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc{})
            threads.push_back(thread);
    }
    return threads;
}

std::uint32_t parent_of(std::uint32_t process) {
    constexpr unsigned kParent = 4;
    return static_cast<std::uint32_t>(ProcessStatus(process).field(kParent));
}

std::uint64_t start_time_of(std::uint32_t process) {
    constexpr unsigned kStartTime = 22;
    return ProcessStatus(process).field(kStartTime);
}

std::vector<trace::Module> CodeFiles::of_process(std::uint32_t process) {
    std::vector<trace::Module> modules;
    std::ifstream file(path_of(process, "maps"));
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        trace::Module module;
        char dash = 0;
        std::string rights;
        std::string device;
        std::string inode;
        words >> std::hex >> module.begin >> dash >> module.end >> rights >> module.offset >> device >> inode;
        std::getline(words >> std::ws, module.path);
        const bool has_code = rights.size() > 2 && rights[2] == 'x';
        if (!has_code || module.path.empty() || module.path == "[vsyscall]") continue;
        if (module.path.front() == '/') module.build_id = build_id(module.path, device + inode);
        modules.push_back(std::move(module));
    }
    return modules;
}

// A file that took the place of one that is gone may have its number, too.
const std::string &CodeFiles::build_id(const std::string &path, const std::string &identity) {
    struct stat status {};
    std::string version;
    if (::stat(path.c_str(), &status) == 0)
        version = fmt::format(" {} {}.{}", status.st_size, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
    const auto [at, is_new] = build_ids_.try_emplace(path + identity + version);
    if (is_new) {
        try {
            at->second = ElfFile(path).build_id();
        } catch (const std::system_error &) {
            at->second.clear();  // deleted, or another's: then it has none
        }
    }
    return at->second;
}

std::optional<std::vector<trace::PageRun>> resident_pages(std::uint32_t process, const AddressRanges &ranges) {
    constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
    constexpr std::size_t kEntries = 1 << 14;
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 38;  // a look at more takes too long
    std::uint64_t bytes = 0;
    for (const auto &[begin, end] : ranges.all()) bytes += std::min(end - begin, kMostBytes);
    if (bytes > kMostBytes) return std::nullopt;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const int file = ::open(path_of(process, "pagemap").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return std::nullopt;
    std::vector<std::uint64_t> entries(kEntries);
    std::vector<trace::PageRun> runs;
    bool is_whole = true;
    for (const auto &[begin, end] : ranges.all()) {
        for (std::uint64_t at = begin; at < end && is_whole;) {
            const std::size_t count = std::min<std::uint64_t>((end - at) / page, kEntries);
            const auto size = static_cast<ssize_t>(count * sizeof entries[0]);
            is_whole = ::pread(file, entries.data(), static_cast<std::size_t>(size),
                               static_cast<off_t>(at / page * sizeof entries[0])) == size;
            for (std::size_t i = 0; i < count && is_whole; ++i, at += page) {
                if ((entries[i] & kPresent) == 0) continue;
                if (!runs.empty() && runs.back().begin + runs.back().bytes == at) {
                    runs.back().bytes += page;
                } else {
                    runs.push_back({at, page});
                }
            }
        }
    }
    ::close(file);
    if (!is_whole) return std::nullopt;
    return runs;
}

}  // namespace gr::tool
