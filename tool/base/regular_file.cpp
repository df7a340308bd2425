// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "base/regular_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

namespace gr::tool {

int open_regular_file(const std::string &path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return -1;
    struct stat status {};
    struct statfs system {};
    int error = 0;
    if (::fstat(file, &status) != 0 || ::fstatfs(file, &system) != 0) {
        error = errno;
    } else if (S_ISDIR(status.st_mode)) {
        error = EISDIR;
    } else if (!S_ISREG(status.st_mode) || system.f_type == PROC_SUPER_MAGIC) {
        error = EINVAL;
    }
    if (error == 0) return file;
    ::close(file);
    errno = error;
    return -1;
}

}  // namespace gr::tool
