// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/allocators/granary_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "reading/allocators/loader_path.hpp"
#include "reading/allocators/malloc_symbols.hpp"
#include "reading/process/elf_file.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char *kFileName = "libgranary.so";

void check_loadable(const std::string &path) {
    try {
        const ElfFile file(path);
        if (file.format() == ElfFormat::native && file.type() == ET_DYN) {
            if (contains_granary(file)) return;
            throw Failure(ExitCode::tool_failure, fmt::format("cannot preload {}: it is not Granary", in_quotes(path)));
        }
    } catch (const std::system_error &error) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("cannot preload {}: {}", in_quotes(path), error.code().message()));
    }
    throw Failure(ExitCode::tool_failure,
                  fmt::format("cannot preload {}: not a shared library for this machine", in_quotes(path)));
}

fs::path own_folder() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).parent_path();
}

// The build tree, by the name it has there; then an installation: lib, Debian's multiarch folder, other distributions'
// lib64. Empty: nowhere.
std::string found_near(const char *built, const char *installed) {
    const fs::path folder = own_folder();
    if (folder.empty()) return {};
    const std::array<fs::path, 4> paths{folder / built, folder / ".." / "lib" / installed,
                                        folder / ".." / "lib" / GRANARY_MULTIARCH / installed,
                                        folder / ".." / "lib64" / installed};
    for (const fs::path &path : paths) {
        if (std::error_code error; fs::exists(path, error)) return path.lexically_normal().string();
    }
    return {};
}
std::string found_near(const char *name) { return found_near(name, name); }

// The file the loader finds by itself, which costs loading it into this process.
std::string loaders_own() {
    void *handle = ::dlopen(kFileName, RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) return {};
    struct link_map *map = nullptr;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
    return map->l_name;
}

}  // namespace

std::string find_library(const std::string &requested) {
    if (!requested.empty()) {
        std::string path = fs::absolute(requested).string();
        check_loadable(path);
        return path;
    }
    if (std::string path = found_near(kFileName); !path.empty()) {
        check_loadable(path);
        return path;
    }
    std::string path = loaders_own();
    if (path.empty()) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("no {} in {}, in ../lib or on the loader's path; use --library PATH", kFileName,
                                  in_quotes(own_folder().string())));
    }
    check_loadable(path);
    return path;
}

void preload(const std::string &library) {
    const std::string kept = variable("LD_PRELOAD").value_or("");
    const std::string path = preload_path(library);
    if (kept.substr(0, kept.find_first_of(" :")) == path) return;
    set_variable("LD_PRELOAD", kept.empty() ? path : fmt::format("{}:{}", path, kept));
}

std::string collecting_library(const std::string &library) {
    std::string path = (fs::path(library).parent_path() / "libgranary-gcmalloc.so").string();
    if (std::error_code error; !fs::exists(path, error)) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("no {}; it is built and installed beside {}", in_quotes(path), kFileName));
    }
    check_loadable(path);
    return path;
}

// The recorder's library comes before any allocator and does not need Granary's.
std::string recorder_library() {
    constexpr const char *kName = "libgranary-record.so";
    std::string path = found_near(kName);
    if (path.empty()) {
        const std::string library = loaders_own();
        if (!library.empty()) path = (fs::path(library).parent_path() / kName).string();
        if (std::error_code error; library.empty() || !fs::exists(path, error)) {
            throw Failure(ExitCode::tool_failure,
                          fmt::format("no {} in {}, in ../lib or beside the {} on the loader's path", kName,
                                      in_quotes(own_folder().string()), kFileName));
        }
    }
    return path;
}

std::string lab_folder() { return found_near("lab", "granary/lab"); }

void put_collector_first(const std::string &library) {
    constexpr const char *kPath = "LD_LIBRARY_PATH";
    const fs::path folder = fs::path(library).parent_path() / "libgc";
    if (std::error_code error; !fs::exists(folder / "libgc.so.1", error)) {
        throw Failure(ExitCode::tool_failure, fmt::format("no {}; the collector is built and installed beside {}",
                                                          in_quotes((folder / "libgc.so.1").string()), kFileName));
    }
    const std::string kept = variable(kPath).value_or("");
    const std::string path = library_path(folder.string());
    set_variable(kPath, kept.empty() ? path : fmt::format("{}:{}", path, kept));
}

}  // namespace gr::tool
