// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: chosen_allocator.hpp.
// Invariant: as there. A peer that was built comes before a package's of the same name.
// Must not know: which program is started.
#include "reading/allocators/chosen_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "reading/allocators/granary_library.hpp"
#include "reading/allocators/lab_options.hpp"
#include "reading/allocators/malloc_symbols.hpp"
#include "reading/process/elf_file.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char *kGranary = "granary";

// Where the distribution's packages have them, below /usr/lib.
constexpr std::array<std::pair<const char *, const char *>, 4> kPackaged{{{"jemalloc", "libjemalloc.so.2"},
                                                                          {"mimalloc", "libmimalloc.so.2.0"},
                                                                          {"mimalloc", "libmimalloc.so.3"},
                                                                          {"tcmalloc", "libtcmalloc_minimal.so.4"}}};

// The bench's, in the build folder beside this one; none, where there was no bench.
std::vector<ChosenAllocator> built_peers() {
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    std::ifstream file(folder / ".." / "peers" / "peers.json");
    std::vector<ChosenAllocator> found;
    const Json json = Json::parse(file, nullptr, false);
    if (!json.is_object() || !json.contains("peers")) return found;
    for (const Json &peer : json["peers"]) {
        if (!peer.contains("library") || !peer["library"].is_string()) continue;
        ChosenAllocator one{peer.value("name", ""), peer["library"], {}};
        if (peer.contains("environment")) {
            for (const auto &variable : peer["environment"].items())
                one.environment.emplace_back(variable.key(), variable.value().get<std::string>());
        }
        if (fs::exists(one.library, error)) found.push_back(std::move(one));
    }
    return found;
}

std::vector<ChosenAllocator> packaged() {
    std::vector<ChosenAllocator> found;
    std::error_code error;
    for (const auto &[name, file] : kPackaged) {
        const fs::path path = fs::path("/usr/lib") / GRANARY_MULTIARCH / file;
        if (fs::exists(path, error)) found.push_back({name, path.string(), {}});
    }
    return found;
}

// Every liblab-NAME.so, by name.
std::vector<ChosenAllocator> in_lab() {
    constexpr std::string_view kBegin = "liblab-";
    constexpr std::string_view kEnd = ".so";
    std::vector<ChosenAllocator> found;
    std::error_code error;
    for (const fs::directory_entry &entry : fs::directory_iterator(lab_folder(), error)) {
        const std::string file = entry.path().filename().string();
        if (!file.starts_with(kBegin) || !file.ends_with(kEnd) || file.size() <= kBegin.size() + kEnd.size()) continue;
        const std::string name = file.substr(kBegin.size(), file.size() - kBegin.size() - kEnd.size());
        found.push_back({std::string(kLab) + name, entry.path().string(), {}});
    }
    std::ranges::sort(found, {}, &ChosenAllocator::name);
    return found;
}

ChosenAllocator from_file(const std::string &path) {
    try {
        const ElfFile file(path);
        if (file.format() == ElfFormat::native && file.type() == ET_DYN) {
            if (!exports_malloc(file)) {
                throw Failure(ExitCode::usage, fmt::format("allocator {}: it has no malloc", in_quotes(path)));
            }
            return {fs::path(path).filename().string(), fs::absolute(path).string(), {}};
        }
    } catch (const std::system_error &error) {
        throw Failure(ExitCode::usage, fmt::format("allocator {}: {}", in_quotes(path), error.code().message()));
    }
    throw Failure(ExitCode::usage, fmt::format("allocator {}: not a shared library for this machine", in_quotes(path)));
}

ChosenAllocator from_name(const std::string &name) {
    std::vector<ChosenAllocator> known = built_peers();
    for (ChosenAllocator &one : packaged()) known.push_back(std::move(one));
    for (ChosenAllocator &one : in_lab()) known.push_back(std::move(one));
    std::vector<std::string> names = {kSystemAllocator, kGranary};
    const ChosenAllocator *labs_own = nullptr;
    for (const ChosenAllocator &one : known) {
        if (one.name == name) return one;
        if (one.name == std::string(kLab) + name) labs_own = &one;
        if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
    }
    if (labs_own != nullptr) return *labs_own;
    throw Failure(ExitCode::usage, fmt::format("no allocator {}; there are {} and any PATH.so", in_quotes(name),
                                               list_text(names, names.size())));
}

ChosenAllocator from_lab(const std::string &words) {
    const auto [name, options] = split_options(words);
    ChosenAllocator chosen = from_name(name);
    if (options.empty()) return chosen;
    if (const std::string refusal = refusal_of(chosen.library, options); !refusal.empty())
        throw Failure(ExitCode::usage, fmt::format("allocator {}: {}", in_quotes(words), refusal));
    chosen.name = words;
    chosen.environment.emplace_back(kLabVariable, options);
    return chosen;
}

// f=1/8 and hoard:f=1/8 are options and not files, although they have a slash.
void check_no_option(const std::string &words) {
    const std::size_t equals = words.find('=');
    std::error_code error;
    if (equals == std::string::npos || words.find('/') < equals || fs::exists(words, error)) return;
    throw Failure(ExitCode::usage, fmt::format("no allocator {}; options follow the name of a lab allocator, after "
                                               "colons, as in lab:hoard:f=1/8:K=0",
                                               in_quotes(words)));
}

}  // namespace

ChosenAllocator choose_allocator(const std::string &words) {
    if (words == kSystemAllocator) return {words, "", {}};
    if (words == kGranary) return {words, find_library(""), {}};
    if (words.starts_with(kLab)) return from_lab(words);
    check_no_option(words);
    return words.find('/') != std::string::npos ? from_file(words) : from_name(words);
}

std::vector<std::string> names_in(const std::string &list) {
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        if (end > begin) names.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return names;
}

}  // namespace gr::tool
