// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/lab/shown_lab.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "reading/allocators/granary_library.hpp"
#include "reading/allocators/lab_options.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibraryBegin = "liblab-";
constexpr std::string_view kLibraryEnd = ".so";
constexpr std::string_view kScriptEnd = ".txt";
constexpr const char *kStage = "granary-lab-stage";
constexpr const char *kBuildIt = "run 'make lab-show' in a checkout, then build/release/granary lab show";

std::string library_name(const std::string &name) { return fmt::format("{}{}{}", kLibraryBegin, name, kLibraryEnd); }

// The names between the two ends, of the folder's files.
std::vector<std::string> names_between(const fs::path &folder, std::string_view begin, std::string_view end) {
    std::vector<std::string> names;
    std::error_code error;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder, error)) {
        const std::string file = entry.path().filename().string();
        if (file.size() <= begin.size() + end.size() || !file.starts_with(begin) || !file.ends_with(end)) continue;
        names.push_back(file.substr(begin.size(), file.size() - begin.size() - end.size()));
    }
    std::ranges::sort(names);
    return names;
}

fs::path lab() {
    const std::string folder = lab_folder();
    if (folder.empty()) throw Failure(ExitCode::tool_failure, fmt::format("the lab is not built; {}", kBuildIt));
    return folder;
}

// The first sentence of the comment that a script begins with.
std::string first_sentence(const std::string &file) {
    std::ifstream script(file);
    std::string comment;
    for (std::string line; std::getline(script, line) && line.starts_with('#');) {
        const std::size_t text = std::min(line.find_first_not_of("# "), line.size());
        comment += (comment.empty() ? "" : " ") + line.substr(text);
    }
    const std::size_t end = comment.find(". ");
    return printable(end == std::string::npos ? comment : comment.substr(0, end + 1));
}

}  // namespace

std::vector<std::string> shown_allocators() {
    std::vector<std::string> names = names_between(lab() / "shown", kLibraryBegin, kLibraryEnd);
    if (names.empty()) {
        throw Failure(ExitCode::tool_failure, fmt::format("no allocator in {} that can be shown; {}",
                                                          in_quotes((lab() / "shown").string()), kBuildIt));
    }
    return names;
}

std::vector<LabScript> lab_scripts() {
    std::vector<LabScript> scripts;
    const fs::path folder = lab() / "scripts";
    for (const std::string &name : names_between(folder, "", kScriptEnd)) {
        const std::string file = (folder / fmt::format("{}{}", name, kScriptEnd)).string();
        scripts.push_back({name, file, first_sentence(file)});
    }
    return scripts;
}

ShownAllocator choose_shown(const std::string &words) {
    const std::vector<std::string> known = shown_allocators();
    const std::string prefix(kLab);
    const auto [whole, options] = split_options(words.starts_with(kLab) ? words : prefix + words);
    const std::string name = whole.substr(prefix.size());
    if (std::ranges::find(known, name) == known.end()) {
        std::error_code error;
        const bool exists = name.find('/') == std::string::npos && fs::exists(lab() / library_name(name), error);
        throw Failure(ExitCode::usage,
                      fmt::format("{} {}; there are {}",
                                  exists ? "the lab cannot show its allocator" : "the lab has no allocator",
                                  in_quotes(name), list_text(known, known.size())));
    }
    const std::string library = (lab() / "shown" / library_name(name)).string();
    if (!options.empty()) {
        if (const std::string refusal = refusal_of(library, options); !refusal.empty())
            throw Failure(ExitCode::usage, fmt::format("allocator {}: {}", in_quotes(words), refusal));
    }
    return {words.starts_with(kLab) ? words.substr(prefix.size()) : words, library, options};
}

std::optional<std::string> script_file(const std::string &word) {
    if (word.find('/') == std::string::npos) {
        const fs::path file = fs::path(lab_folder()) / "scripts" / fmt::format("{}{}", word, kScriptEnd);
        if (std::error_code error; fs::exists(file, error)) return file.string();
    }
    std::error_code error;
    if (fs::is_regular_file(word, error) && ::access(word.c_str(), X_OK) != 0) return word;
    return std::nullopt;
}

std::string stage_program() {
    const std::string path = (lab() / kStage).string();
    if (std::error_code error; !fs::exists(path, error)) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("no {} in {}; {}", kStage, in_quotes(lab().string()), kBuildIt));
    }
    return path;
}

}  // namespace gr::tool
