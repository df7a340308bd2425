// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whole_file.hpp.
// Invariant: as there. What is no regular file (a pipe, /dev/stdout) is written in place.
// Must not know: what is written.
#include "report/whole_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace fs = std::filesystem;

void write_whole(const std::string &path, std::string_view content) {
    std::error_code none;
    const bool in_place = fs::exists(path, none) && !fs::is_regular_file(path, none);
    const std::string beside = in_place ? path : path + ".part";
    errno = 0;
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file.write(content.data(), static_cast<std::streamsize>(content.size())).flush();
    file.close();
    std::error_code error;
    if (!file) error = {errno == 0 ? EIO : errno, std::generic_category()};
    if (!error && !in_place) fs::rename(beside, path, error);
    if (!error) return;
    if (!in_place) fs::remove(beside, none);
    throw Failure(ExitCode::kToolFailure, fmt::format("cannot write {}: {}", in_quotes(path), error.message()));
}

}  // namespace gr::tool
