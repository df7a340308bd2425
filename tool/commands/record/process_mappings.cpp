// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/process_mappings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/file_text.hpp"

namespace gr::tool {

namespace {

constexpr std::uint64_t kSmapsUnit = 1024;

// The next part of a line, up to a blank; the rest stays.
std::string_view word_of(std::string_view *line) {
    line->remove_prefix(std::min(line->find_first_not_of(' '), line->size()));
    const std::string_view word = line->substr(0, line->find(' '));
    line->remove_prefix(word.size());
    return word;
}

std::uint64_t number_in(std::string_view text, int base) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number, base);
    return number;
}

// "5581d000-5581e000 rw-p 00001000 08:01 1234    /usr/bin/x"
SmapsEntry mapping_of(std::string_view line) {
    SmapsEntry mapping;
    const std::string_view range = word_of(&line);
    const std::size_t dash = std::min(range.find('-'), range.size() - 1);
    mapping.begin = number_in(range.substr(0, dash), 16);
    mapping.end = number_in(range.substr(dash + 1), 16);
    const std::string_view rights = word_of(&line);
    mapping.is_writable = rights.size() > 1 && rights[1] == 'w';
    mapping.is_executable = rights.size() > 2 && rights[2] == 'x';
    mapping.is_shared = rights.size() > 3 && rights[3] == 's';
    constexpr int kPassedOver = 3;  // offset, device, inode
    for (int i = 0; i < kPassedOver; ++i) word_of(&line);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    mapping.name = line;
    return mapping;
}

// Lines of numbers begin with a capital, the first line of a mapping with an address.
bool begins_mapping(std::string_view line) { return !line.empty() && (line[0] < 'A' || line[0] > 'Z'); }

std::vector<SmapsEntry> mappings_in(const std::string &text) {
    std::vector<SmapsEntry> mappings;
    for (std::string_view rest = text; !rest.empty();) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (begins_mapping(line)) {
            mappings.push_back(mapping_of(line));
        } else if (!mappings.empty()) {
            const std::string_view name = word_of(&line);
            if (name == "Rss:") mappings.back().resident = number_in(word_of(&line), 10) * kSmapsUnit;
            if (name == "Anonymous:") mappings.back().anonymous = number_in(word_of(&line), 10) * kSmapsUnit;
        }
    }
    return mappings;
}

}  // namespace

std::vector<SmapsEntry> mappings_of(std::uint32_t process) {
    return mappings_in(file_text(fmt::format("/proc/{}/smaps", process)));
}

std::vector<SmapsEntry> addresses_of(std::uint32_t process) {
    return mappings_in(file_text(fmt::format("/proc/{}/maps", process)));
}

std::uint64_t page_table_bytes_of(std::uint32_t process) {
    std::ifstream file(fmt::format("/proc/{}/status", process));
    constexpr std::string_view kName = "VmPTE:";
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(kName)) continue;
        const std::size_t digits = line.find_first_of("0123456789");
        return digits == std::string::npos ? 0 : number_in(std::string_view(line).substr(digits), 10) * kSmapsUnit;
    }
    return 0;
}

PresentPages::PresentPages(std::uint32_t process)
    : file_(::open(fmt::format("/proc/{}/pagemap", process).c_str(), O_RDONLY | O_CLOEXEC)) {}

PresentPages::~PresentPages() {
    if (file_ >= 0) ::close(file_);
}

std::uint64_t PresentPages::bytes_in(std::uint64_t begin, std::uint64_t end) const {
    constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 36;  // a look at more takes too long
    constexpr std::uint64_t kEntries = 1 << 14;
    if (file_ < 0 || end - begin > kMostBytes) return 0;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::vector<std::uint64_t> entries(std::min((end - begin) / page, kEntries));
    std::uint64_t present = 0;
    for (std::uint64_t at = begin; at < end;) {
        const std::uint64_t count = std::min<std::uint64_t>((end - at) / page, entries.size());
        const std::size_t size = count * sizeof entries[0];
        if (count == 0 || ::pread(file_, entries.data(), size, static_cast<off_t>(at / page * sizeof entries[0])) !=
                              static_cast<ssize_t>(size))
            break;
        for (std::uint64_t i = 0; i < count; ++i) present += (entries[i] & kPresent) != 0 ? page : 0;
        at += count * page;
    }
    return present;
}

}  // namespace gr::tool
