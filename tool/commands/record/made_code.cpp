// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/made_code.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/regular_file.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kMostMapBytes = std::size_t{64} << 20;
constexpr std::size_t kMostName = 1000;

// By which number a process knows itself: another one than its recorder's, if it is in a container of its own.
std::uint64_t own_number(std::uint32_t process) {
    std::ifstream file(fmt::format("/proc/{}/status", process));
    for (std::string line; std::getline(file, line);) {
        constexpr std::string_view kName = "NSpid:";
        if (!line.starts_with(kName)) continue;
        std::istringstream numbers(line.substr(kName.size()));
        std::uint64_t last = process;
        for (std::uint64_t number = 0; numbers >> number;) last = number;
        return last;
    }
    return process;
}

struct Line {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::string_view name;
};

std::optional<std::uint64_t> take_number(std::string_view *text) {
    if (text->starts_with("0x")) text->remove_prefix(2);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number, 16);
    if (error != std::errc() || end == text->data() + text->size() || *end != ' ') return std::nullopt;
    text->remove_prefix(static_cast<std::size_t>(end - text->data()) + 1);
    return number;
}

// "3ef414c0 398 RegExp:[{(]", in hexadecimal.
std::optional<Line> parse(std::string_view text) {
    const auto begin = take_number(&text);
    const auto bytes = begin ? take_number(&text) : std::nullopt;
    if (!bytes || text.empty()) return std::nullopt;
    return Line{*begin, *bytes, text.substr(0, kMostName)};
}

}  // namespace

MadeCode::MadeCode(std::uint32_t process) {
    paths_.push_back(fmt::format("/proc/{}/root/tmp/perf-{}.map", process, own_number(process)));
    paths_.push_back(fmt::format("/tmp/perf-{}.map", process));
    struct stat status {};
    user_ = ::stat(fmt::format("/proc/{}", process).c_str(), &status) == 0 ? status.st_uid : ::geteuid();
}

void MadeCode::add(std::uint64_t address) {
    if (unnamed_.size() < kMostAddresses) unnamed_.insert(address);
}

std::string MadeCode::contents() const {
    for (const std::string &path : paths_) {
        const int file = open_regular_file(path);
        if (file < 0) continue;
        std::string text;
        struct stat status {};
        if (::fstat(file, &status) == 0 && status.st_uid == user_)
            text.resize(std::min(static_cast<std::size_t>(status.st_size), kMostMapBytes));
        std::size_t size = 0;
        for (ssize_t got = 1; got > 0 && size < text.size();
             size += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
            got = ::read(file, text.data() + size, text.size() - size);
        ::close(file);
        text.resize(size);
        return text;
    }
    return {};
}

// A program may use an address again: the last line about it counts.
std::vector<trace::MadeFunction> MadeCode::take_names() {
    if (unnamed_.empty()) return {};
    const std::string text = contents();
    std::map<std::uint64_t, std::string_view> names;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (const auto line = parse(std::string_view(text).substr(at, end - at))) {
            // The address is behind the call, and may be behind the function.
            for (auto one = unnamed_.upper_bound(line->begin);
                 one != unnamed_.end() && *one - line->begin <= line->bytes; ++one)
                names[*one] = line->name;
        }
        at = end + 1;
    }
    std::vector<trace::MadeFunction> told;
    for (const auto &[address, name] : names) {
        told.push_back({address, std::string(name)});
        unnamed_.erase(address);
    }
    return told;
}

}  // namespace gr::tool
