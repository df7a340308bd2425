// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/process/process_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/failure.hpp"
#include "base/read_at.hpp"

namespace gr::tool {

namespace {

// The bits of an entry of /proc/PID/pagemap.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
constexpr std::uint64_t kExclusive = std::uint64_t{1} << 56;

PageState state_of(std::uint64_t entry) {
    if ((entry & kPresent) == 0) return PageState::absent;
    return (entry & kExclusive) != 0 ? PageState::resident : PageState::shared;
}

// "7f00-7f10 rw-p 00000000 fe:00 247026   /path with blanks"; false: another kind of line.
bool parse_head(const std::string &line, Mapping *mapping) {
    std::array<char, 5> rights{};
    int path = 0;
    const int fields = std::sscanf(line.c_str(), "%lx-%lx %4s %*x %*x:%*x %*u %n", &mapping->begin, &mapping->end,
                                   rights.data(), &path);
    if (fields != 3 || path == 0) return false;
    mapping->writable = rights[1] == 'w';
    mapping->shared = rights[3] == 's';
    mapping->name = line.substr(static_cast<std::size_t>(path));
    mapping->resident = mapping->huge = mapping->lazy = 0;
    return true;
}

// "Rss:          12 kB", if that is the key.
bool parse_size(std::string_view line, std::string_view key, std::uint64_t *bytes) {
    if (!line.starts_with(key)) return false;
    line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
    std::uint64_t kilobytes = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), kilobytes).ec != std::errc{}) return false;
    *bytes = kilobytes * 1024;
    return true;
}

}  // namespace

std::uint64_t Pages::end() const { return begin + states.size() * ProcessMemory::page_bytes(); }

double Pages::resident(std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t page = ProcessMemory::page_bytes();
    double bytes = 0;
    from = std::max(from, begin);
    to = std::min(to, end());
    while (from < to) {
        const std::uint64_t next = std::min(to, begin + ((from - begin) / page + 1) * page);
        const PageState state = states[(from - begin) / page];
        const double weight = state == PageState::absent ? 0 : state == PageState::resident ? 1 : shared_weight;
        bytes += weight * static_cast<double>(next - from);
        from = next;
    }
    return bytes;
}

std::uint64_t ProcessMemory::page_bytes() {
    static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

void fail_ended(int process) {
    throw Failure(ExitCode::not_found, fmt::format("process {} has ended, or is a kernel thread", process));
}

void fail_to_look(int process, int error) {
    if (error == ENOENT || error == ESRCH) fail_ended(process);
    throw Failure(ExitCode::tool_failure, fmt::format("process {} may not be read: {}; try as its owner or as root",
                                                      process, std::generic_category().message(error)));
}

ProcessMemory::ProcessMemory(int process) : process_(process) {
    struct stat status {};
    if (::stat(fmt::format("/proc/{}", process).c_str(), &status) != 0) {
        throw Failure(ExitCode::not_found, fmt::format("no process {}", process));
    }
    std::array<char, 4096> path{};
    const ssize_t length = ::readlink(fmt::format("/proc/{}/exe", process).c_str(), path.data(), path.size());
    if (length < 0) fail_to_look(process_, errno);
    executable_.assign(path.data(), static_cast<std::size_t>(length));
    memory_ = open_file("mem");
    page_map_ = open_file("pagemap");
}

ProcessMemory::~ProcessMemory() {
    ::close(memory_);
    ::close(page_map_);
}

int ProcessMemory::open_file(const char *name) const {
    const int file = ::open(fmt::format("/proc/{}/{}", process_, name).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail_to_look(process_, errno);
    return file;
}

std::vector<Mapping> ProcessMemory::mappings() const {
    std::ifstream file(fmt::format("/proc/{}/smaps", process_));
    if (!file) fail_to_look(process_, errno);
    std::vector<Mapping> result;
    for (std::string line; std::getline(file, line);) {
        Mapping mapping{};
        if (parse_head(line, &mapping)) {
            result.push_back(std::move(mapping));
        } else if (!result.empty()) {
            parse_size(line, "Rss:", &result.back().resident);
            parse_size(line, "AnonHugePages:", &result.back().huge);
            parse_size(line, "LazyFree:", &result.back().lazy);
        }
    }
    if (result.empty()) fail_ended(process_);
    return result;
}

std::vector<std::uint64_t> ProcessMemory::page_entries(std::uint64_t begin, std::uint64_t end) const {
    std::vector<std::uint64_t> entries((end - begin) / page_bytes());
    const std::size_t bytes = entries.size() * sizeof entries[0];
    const std::size_t done = read_at(page_map_, begin / page_bytes() * sizeof entries[0], entries.data(), bytes);
    if (done != bytes) fail_ended(process_);
    return entries;
}

Pages ProcessMemory::pages(const Mapping &mapping) const {
    constexpr std::uint64_t kPagesAtOnce = 1 << 20;
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 42;
    if (mapping.end - mapping.begin > kMostBytes) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("process {}: a mapping of {} bytes at {:#x} is too large to look at its pages",
                                  process_, mapping.end - mapping.begin, mapping.begin));
    }
    Pages result;
    result.begin = mapping.begin;
    std::uint64_t resident = 0;
    std::uint64_t shared = 0;
    for (std::uint64_t from = mapping.begin; from < mapping.end;) {
        const std::uint64_t to = std::min(mapping.end, from + kPagesAtOnce * page_bytes());
        for (const std::uint64_t entry : page_entries(from, to)) {
            const PageState state = state_of(entry);
            result.states.push_back(state);
            resident += state == PageState::resident ? 1 : 0;
            shared += state == PageState::shared ? 1 : 0;
        }
        from = to;
    }
    const std::uint64_t counted = mapping.resident / page_bytes();
    const std::uint64_t rest = counted > resident ? counted - resident : 0;
    if (shared != 0) result.shared_weight = std::min(1.0, static_cast<double>(rest) / static_cast<double>(shared));
    return result;
}

bool ProcessMemory::read(std::uint64_t address, void *to, std::size_t bytes) const {
    if (read_at(memory_, address, to, bytes) == bytes) return true;
    if (errno == 0) fail_ended(process_);  // at its end a process has no memory any more
    return false;
}

bool ProcessMemory::read_touched(std::uint64_t address, void *to, std::size_t bytes) const {
    std::memset(to, 0, bytes);
    if (bytes == 0) return true;
    const std::uint64_t page = page_bytes();
    if (bytes > UINT64_MAX - page - address) return false;
    const std::uint64_t first = address / page * page;
    const std::vector<std::uint64_t> entries = page_entries(first, (address + bytes + page - 1) / page * page);
    const auto touched = [&](std::size_t i) { return (entries[i] & (kPresent | kSwapped)) != 0; };
    for (std::size_t i = 0; i < entries.size();) {
        std::size_t next = i + 1;
        while (next < entries.size() && touched(next) == touched(i)) ++next;
        const std::uint64_t from = std::max(address, first + i * page);
        const std::uint64_t end = std::min(address + bytes, first + next * page);
        if (touched(i) && !read(from, static_cast<char *>(to) + (from - address), end - from)) return false;
        i = next;
    }
    return true;
}

}  // namespace gr::tool
