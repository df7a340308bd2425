// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: read_at.hpp.
// Invariant: as there.
// Must not know: what the file is.
#include "base/read_at.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

namespace gr::tool {

std::size_t read_at(int file, std::uint64_t offset, void *to, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
        errno = 0;
        const ssize_t count =
            ::pread(file, static_cast<char *>(to) + done, bytes - done, static_cast<off_t>(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += static_cast<std::size_t>(count);
    }
    return done;
}

}  // namespace gr::tool
