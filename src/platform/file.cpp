// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/file.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include <cerrno>

#include "platform/syscall.hpp"

namespace gr::platform {

std::size_t read_file(const char *path, char *text, std::size_t size) {
    return read_and_close(open_file(path), text, size);
}

std::size_t read_and_close(long file, char *text, std::size_t size) {
    std::size_t length = 0;
    while (file >= 0 && length + 1 < size) {
        const long read = read_some(file, text + length, size - 1 - length);
        if (read <= 0) break;
        length += static_cast<std::size_t>(read);
    }
    if (file >= 0) close_file(file);
    text[length] = '\0';
    return length;
}

bool append_to_file(const char *path, const char *text, std::size_t size) {
    constexpr int kForOwner = 0600;
    const long fd = system_call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kForOwner);
    if (fd < 0) return false;
    const long written = system_call(SYS_write, fd, text, size);
    system_call(SYS_close, fd);
    return written == static_cast<long>(size);
}

long create_file(const char *path, Readers readers) {
    constexpr int kForOwner = 0600;
    constexpr int kForAll = 0644;
    const int mode = readers == Readers::owner ? kForOwner : kForAll;
    return system_call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

long open_file(const char *path) { return system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC); }

long read_some(long file, char *to, std::size_t size) {
    for (;;) {
        const long read = system_call(SYS_read, file, to, size);
        if (read != -EINTR) return read;
    }
}

long close_file(long file) { return system_call(SYS_close, file); }

long rename_file(const char *from, const char *to) { return system_call(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to); }

long remove_file(const char *path) { return system_call(SYS_unlinkat, AT_FDCWD, path, 0); }

}  // namespace gr::platform
