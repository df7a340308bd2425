// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: mapped_file.hpp.
// Invariant: as there.
// Must not know: what it holds.
#include "trace/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::trace {

namespace {

[[noreturn]] void fail(const std::string &path, int error) {
    throw tool::Failure(tool::ExitCode::kNotRunnable, fmt::format("cannot read {}: {}", tool::in_quotes(path),
                                                                  std::generic_category().message(error)));
}

}  // namespace

MappedFile::MappedFile(const std::string &path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(path, errno);
    struct stat status {};
    int error = ::fstat(file, &status) != 0 ? errno : 0;
    if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
    if (error == 0 && status.st_size > 0) {
        const auto size = static_cast<std::size_t>(status.st_size);
        void *const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (at == MAP_FAILED) {
            error = errno;
        } else {
            bytes_ = {static_cast<const std::uint8_t *>(at), size};
        }
    }
    ::close(file);
    if (error != 0) fail(path, error);
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t *>(bytes_.data()), bytes_.size());
}

}  // namespace gr::trace
