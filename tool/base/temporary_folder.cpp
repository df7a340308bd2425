// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "base/temporary_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string &purpose)
    : path_((fs::temp_directory_path() / fmt::format("granary-{}-XXXXXX", purpose)).string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
        throw Failure(ExitCode::tool_failure, fmt::format("cannot create a folder {}: {}", in_quotes(path_),
                                                          std::generic_category().message(errno)));
    }
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
}

}  // namespace gr::tool
