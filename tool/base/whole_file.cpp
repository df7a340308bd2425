// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "base/whole_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace fs = std::filesystem;

WholeFile::WholeFile(const std::string &path, FileAccess access) : path_(path) {
    std::error_code none;
    const bool in_place = fs::exists(path, none) && !fs::is_regular_file(path, none);
    beside_ = in_place ? path : path + ".part";
    errno = 0;
    file_.open(beside_, std::ios::binary | std::ios::trunc);
    if (!file_) fail(errno);
    if (access == FileAccess::owner_only && !in_place)
        fs::permissions(beside_, fs::perms::owner_read | fs::perms::owner_write, none);
}

WholeFile::~WholeFile() {
    if (is_finished_ || beside_ == path_) return;
    file_.close();
    std::error_code none;
    fs::remove(beside_, none);
}

void WholeFile::write(std::string_view bytes) {
    errno = 0;
    if (!file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) fail(errno);
}

void WholeFile::finish() {
    errno = 0;
    file_.close();
    if (!file_) fail(errno);
    std::error_code error;
    if (beside_ != path_) fs::rename(beside_, path_, error);
    if (error) fail(error.value());
    is_finished_ = true;
}

void WholeFile::fail(int error) const {
    throw Failure(ExitCode::tool_failure, fmt::format("cannot write {}: {}", in_quotes(path_),
                                                      std::generic_category().message(error == 0 ? EIO : error)));
}

void write_whole(const std::string &path, std::string_view content) {
    WholeFile file(path);
    file.write(content);
    file.finish();
}

}  // namespace gr::tool
