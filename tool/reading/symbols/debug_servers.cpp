// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/symbols/debug_servers.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "base/failure.hpp"
#include "base/variables.hpp"

namespace gr::tool {

namespace {

constexpr const char *kLibrary = "libdebuginfod.so.1";

template <class Function>
Function *function_of(void *library, const char *name) {
    return reinterpret_cast<Function *>(::dlsym(library, name));
}

}  // namespace

DebugServers::DebugServers() {
    if (variable("DEBUGINFOD_URLS").value_or("").empty()) {
        throw Failure(ExitCode::usage,
                      "--debuginfod: no server is named; set DEBUGINFOD_URLS, as in "
                      "DEBUGINFOD_URLS=https://debuginfod.debian.net");
    }
    library_ = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    auto *const begin = library_ != nullptr ? function_of<void *()>(library_, "debuginfod_begin") : nullptr;
    client_ = begin != nullptr ? begin() : nullptr;
    if (client_ == nullptr) {
        throw Failure(ExitCode::not_runnable,
                      "--debuginfod: elfutils' library libdebuginfod.so.1 cannot be loaded; install it (on Debian the "
                      "package libdebuginfod1), or leave the option out");
    }
}

DebugServers::~DebugServers() {
    auto *const end = function_of<void(void *)>(library_, "debuginfod_end");
    if (end != nullptr) end(client_);
}

std::string DebugServers::ask(const char *function, const std::string &build_id) const {
    using Find = int(void *client, const unsigned char *id, int bytes, char **path);
    auto *const find = function_of<Find>(library_, function);
    if (find == nullptr || build_id.empty()) return {};
    char *path = nullptr;
    // 0 bytes: the id is text.
    const int file = find(client_, reinterpret_cast<const unsigned char *>(build_id.c_str()), 0, &path);
    const std::unique_ptr<char, decltype(&std::free)> owned(path, &std::free);
    if (file < 0) return {};
    ::close(file);
    return path != nullptr ? path : "";
}

std::string DebugServers::executable(const std::string &build_id) const {
    return ask("debuginfod_find_executable", build_id);
}

std::string DebugServers::debug_information(const std::string &build_id) const {
    return ask("debuginfod_find_debuginfo", build_id);
}

}  // namespace gr::tool
