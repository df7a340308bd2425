// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/symbols/source_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/failure.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLeastParts = 2;  // of a name, that tell a file where the whole name does not

bool is_called_like_source(const fs::path &path) {
    constexpr std::array kEndings = std::to_array<std::string_view>(
        {".adb", ".c",  ".cc", ".cpp", ".cppm", ".cu",  ".cxx", ".c++",   ".d",   ".f",
         ".f90", ".go", ".h",  ".hh",  ".hpp",  ".hxx", ".h++", ".i",     ".inc", ".inl",
         ".ipp", ".js", ".l",  ".m",   ".mjs",  ".mm",  ".php", ".pl",    ".pm",  ".py",
         ".rb",  ".rs", ".s",  ".S",   ".ts",   ".tcc", ".txx", ".swift", ".y",   ".zig"});
    return std::ranges::find(kEndings, path.extension().string()) != kEndings.end();
}

std::string text_of_file(const fs::path &path) {
    const int file = open_regular_file(path.string());
    if (file < 0) return "";
    std::string text;
    std::array<char, std::size_t{1} << 16> piece{};
    while (text.size() < SourceFolder::kMostBytes) {
        const ssize_t bytes = ::read(file, piece.data(), piece.size());
        if (bytes <= 0) break;
        text.append(piece.data(), static_cast<std::size_t>(bytes));
    }
    ::close(file);
    return text;
}

// With spaces for tabs, cut between two characters.
std::string shown_line(std::string_view line) {
    constexpr std::string_view kTab = "    ";
    std::string text;
    for (const char letter : line) {
        if (letter == '\t') {
            text += kTab;
        } else if (letter != '\r') {
            text += letter;
        }
    }
    if (text.size() > SourceFolder::kMostLetters) {
        std::size_t end = SourceFolder::kMostLetters;
        constexpr unsigned kMask = 0xc0;
        constexpr unsigned kFollows = 0x80;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & kMask) == kFollows) --end;
        text.resize(end);
        text += "…";
    }
    return printable(text);
}

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(shown_line(std::string_view(text).substr(at, end - at)));
        at = end + 1;
    }
    return lines;
}

}  // namespace

SourceFolder::SourceFolder(const std::string &folder) {
    std::error_code error;
    folder_ = fs::canonical(folder, error);
    if (error || !fs::is_directory(folder_, error))
        throw Failure(ExitCode::usage, fmt::format("{}: there is no such folder; --sources wants the folder of the "
                                                   "program's source files",
                                                   printable(folder)));
}

// The file itself, once no link is left in its path; none: it is not to be read.
std::optional<fs::path> SourceFolder::allowed(const fs::path &path) const {
    std::error_code error;
    fs::path real = fs::canonical(path, error);
    if (error || !is_called_like_source(real) || !fs::is_regular_file(real, error)) return std::nullopt;
    const fs::path within = real.lexically_relative(folder_);
    const bool is_hidden =
        std::ranges::any_of(within, [](const fs::path &part) { return part.string().starts_with("."); });
    if (within.empty() || is_hidden) return std::nullopt;  // ".." is hidden, too
    return real;
}

std::optional<fs::path> SourceFolder::place_of(const std::string &name) const {
    const fs::path path = fs::path(name).lexically_normal();
    if (std::optional<fs::path> place = allowed(folder_ / path)) return place;
    const fs::path relative = path.relative_path();
    auto first = relative.begin();
    for (auto parts = std::distance(first, relative.end()); parts >= static_cast<std::ptrdiff_t>(kLeastParts);
         --parts) {
        fs::path rest;
        for (auto part = first; part != relative.end(); ++part) rest /= *part;
        if (std::optional<fs::path> place = allowed(folder_ / rest)) return place;
        ++first;
    }
    return std::nullopt;
}

bool SourceFolder::has(const std::string &name) const { return allowed(folder_ / fs::path(name)).has_value(); }

const SourceFolder::File *SourceFolder::file(const std::string &name) {
    if (name.empty() || (files_.size() >= kMostFiles && !files_.contains(name))) return nullptr;
    const auto [at, is_new] = files_.try_emplace(name);
    if (is_new) {
        if (const std::optional<fs::path> place = place_of(name)) {
            std::error_code error;
            File file{lines_of(text_of_file(*place)), fs::last_write_time(*place, error)};
            if (!file.lines.empty()) at->second = std::move(file);
        }
    }
    return at->second ? &*at->second : nullptr;
}

}  // namespace gr::tool
