// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/symbols/file_search.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/text.hpp"
#include "reading/process/elf_file.hpp"

namespace gr::tool {

namespace {

constexpr const char *kDebugFolder = "/usr/lib/debug";

std::string name_in_folder(const std::string &path) { return path.substr(path.rfind('/') + 1); }

// "FOLDER/.build-id/12/3456": a link to the file; with ".debug" behind it its debug information.
std::string path_by_build_id(const std::string &folder, const std::string &build_id) {
    constexpr std::size_t kFolderLetters = 2;
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (build_id.size() <= kFolderLetters || build_id.find_first_not_of(kDigits) != std::string::npos) return {};
    return fmt::format("{}/.build-id/{}/{}", folder, build_id.substr(0, kFolderLetters),
                       build_id.substr(kFolderLetters));
}

FileState state_of(const std::string &path, const trace::Module &module) {
    try {
        const ElfFile file(path);
        if (file.format() == ElfFormat::none) return FileState::missing;
        const std::string id = file.build_id();
        const bool is_same = id.empty() || module.build_id.empty() || id == module.build_id;
        return is_same ? FileState::found : FileState::other_build;
    } catch (const std::system_error &) {
        return FileState::missing;
    }
}

}  // namespace

std::string unread_text(const std::string &path, FileState state) {
    return fmt::format(
        "{} {}", printable(path),
        state == FileState::other_build ? "has another build id than the recorded file" : "is not there");
}

// elfutils takes a relative folder for one beside each file.
ModuleFiles::ModuleFiles(FileSearch search)
    : search_(std::move(search)), servers_(search_.asks_servers ? std::make_unique<DebugServers>() : nullptr) {
    for (std::string &folder : search_.folders) folder = std::filesystem::absolute(folder);
    if (!search_.sysroot.empty()) search_.sysroot = std::filesystem::absolute(search_.sysroot);
}

const FoundFile &ModuleFiles::of(const trace::Module &module) {
    const auto [at, is_new] = known_.try_emplace({module.path, module.build_id});
    if (is_new) at->second = find(module);
    return at->second;
}

// The file itself, and files of debug information alone where it is not there.
std::vector<std::string> ModuleFiles::candidates(const trace::Module &module) const {
    std::vector<std::string> paths{search_.sysroot + module.path};
    std::vector<std::string> folders = search_.folders;
    for (const std::string &folder : folders) {
        paths.push_back(path_by_build_id(folder, module.build_id));
        paths.push_back(folder + module.path);
        paths.push_back(folder + "/" + name_in_folder(module.path));
    }
    folders.emplace_back(search_.sysroot + kDebugFolder);
    for (const std::string &folder : folders) {
        const std::string by_id = path_by_build_id(folder, module.build_id);
        if (!by_id.empty()) paths.push_back(by_id + ".debug");
        paths.push_back(folder + module.path + ".debug");
        paths.push_back(folder + "/" + name_in_folder(module.path) + ".debug");
    }
    std::erase(paths, "");
    return paths;
}

FoundFile ModuleFiles::find(const trace::Module &module) const {
    FoundFile found;
    if (!module.path.starts_with('/')) return found;  // no file, as "[vdso]": a recorder writes whole paths
    for (std::string &path : candidates(module)) {
        const FileState state = state_of(path, module);
        if (state == FileState::found) return {state, std::move(path)};
        if (state == FileState::other_build) found.state = state;
    }
    if (servers_ == nullptr) return found;
    for (const std::string &path :
         {servers_->executable(module.build_id), servers_->debug_information(module.build_id)}) {
        if (!path.empty()) return {FileState::found, path};
    }
    return found;
}

std::string ModuleFiles::debug_path() const {
    std::string path;
    for (const std::string &folder : search_.folders) path += folder + ":";
    return path + ":.debug:" + search_.sysroot + kDebugFolder;
}

}  // namespace gr::tool
