// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/options/options.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <granary/granary.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/failure.hpp"
#include "base/variables.hpp"
#include "reading/allocators/granary_library.hpp"

namespace gr::tool {

void restart_under_library(const std::string &library, bool json) {
    preload(find_library(library));
    const std::array<const char *, 5> arguments{"granary", "options", kUnderLibraryFlag, json ? "--json" : nullptr,
                                                nullptr};
    ::execv("/proc/self/exe", const_cast<char *const *>(arguments.data()));
    throw Failure(ExitCode::tool_failure,
                  fmt::format("granary cannot restart itself: {}", std::generic_category().message(errno)));
}

void print_options(bool json) {
    const auto print = reinterpret_cast<decltype(&gr_options_print)>(::dlsym(RTLD_DEFAULT, "gr_options_print"));
    if (print == nullptr) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("no gr_options_print in LD_PRELOAD={}: this is not Granary's library",
                                  variable("LD_PRELOAD").value_or("")));
    }
    if (print(STDOUT_FILENO, json ? GR_JSON : GR_TEXT) != 0) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("cannot write the options: {}", std::generic_category().message(errno)));
    }
}

}  // namespace gr::tool
