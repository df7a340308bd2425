// SPDX-License-Identifier: Apache-2.0 OR MIT
// symlink(2) never replaces anything, so two commands that start at the same time share one link.
#include "reading/allocators/loader_path.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;

// The loader takes blanks and colons in LD_PRELOAD for separators. It expands $ORIGIN and its like in both variables.
// There is no escape.
constexpr std::string_view kSplitPreload = " :\t\n$";
constexpr std::string_view kSplitFolders = ":;\n$";
constexpr mode_t kOnlyOwner = 0700;
constexpr mode_t kOthers = 0077;

[[noreturn]] void fail(const std::string &path, const std::string &what) {
    throw Failure(
        ExitCode::tool_failure,
        fmt::format("cannot make a link to {}, whose path has a blank or one of : ; $: {}", in_quotes(path), what));
}

std::string last_error() { return std::generic_category().message(errno); }

// Empty: the folder exists, and nobody else may enter or change it; else what is wrong. Does not follow a link: /tmp is
// open to everybody.
std::string refusal_of(const std::string &folder) {
    if (::mkdir(folder.c_str(), kOnlyOwner) != 0 && errno != EEXIST)
        return fmt::format("{}: {}", in_quotes(folder), last_error());
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0) return fmt::format("{}: {}", in_quotes(folder), last_error());
    if (S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & kOthers) == 0) return {};
    return fmt::format("{} is not a folder that only this user may enter; remove it", in_quotes(folder));
}

// After `su` XDG_RUNTIME_DIR may still be another user's.
std::string private_folder(const std::string &path) {
    const std::string runtime = variable("XDG_RUNTIME_DIR").value_or("");
    if (runtime.starts_with('/') && runtime.find_first_of(kSplitPreload) == std::string::npos &&
        runtime.find_first_of(kSplitFolders) == std::string::npos) {
        std::string folder = runtime + "/granary";
        if (refusal_of(folder).empty()) return folder;
    }
    std::string folder = fmt::format("/tmp/granary-{}", ::geteuid());
    if (const std::string refusal = refusal_of(folder); !refusal.empty()) fail(path, refusal);
    return folder;
}

std::uint64_t hash_of(std::string_view path) {
    constexpr std::uint64_t kBasis = 0xcbf29ce484222325;  // FNV-1a
    constexpr std::uint64_t kPrime = 0x100000001b3;
    std::uint64_t hash = kBasis;
    for (const char letter : path) hash = (hash ^ static_cast<unsigned char>(letter)) * kPrime;
    return hash;
}

// The link's path. Whoever finds the link there made it for the same target, or did not make it for us.
std::string link_to(const std::string &target, std::string_view suffix) {
    std::string link = fmt::format("{}/{:016x}{}", private_folder(target), hash_of(target), suffix);
    if (::symlink(target.c_str(), link.c_str()) == 0) return link;
    if (errno != EEXIST) fail(target, fmt::format("{}: {}", in_quotes(link), last_error()));
    std::error_code error;
    if (fs::read_symlink(link, error) != target) {
        fail(target, fmt::format("{} exists and is not this link; remove it", in_quotes(link)));
    }
    return link;
}

}  // namespace

std::string preload_path(const std::string &file) {
    if (file.find_first_of(kSplitPreload) == std::string::npos) return file;
    const fs::path path = fs::absolute(file);
    const std::string name = path.filename().string();
    if (name.find_first_of(kSplitPreload) != std::string::npos) return link_to(path.string(), ".so");
    return fmt::format("{}/{}", link_to(path.parent_path().string(), ""), name);
}

std::string library_path(const std::string &folder) {
    if (folder.find_first_of(kSplitFolders) == std::string::npos) return folder;
    return link_to(fs::absolute(folder).string(), "");
}

}  // namespace gr::tool
