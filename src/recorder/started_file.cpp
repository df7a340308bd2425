// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "recorder/started_file.hpp"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "platform/process.hpp"

namespace gr {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);

extern "C" const Header __ehdr_start [[gnu::visibility("hidden")]];  // this library's own, by the linker

constexpr std::size_t kMostPath = 4096;
constexpr std::size_t kMostInterpreter = 256;
constexpr std::size_t kMostSegments = 256;

class KeptErrno {
  public:
    KeptErrno() = default;
    ~KeptErrno() { errno = errno_; }
    KeptErrno(const KeptErrno &) = delete;
    KeptErrno &operator=(const KeptErrno &) = delete;

  private:
    int errno_ = errno;
};

bool read_whole(int file, std::uint64_t offset, void *to, std::size_t bytes) {
    return pread(file, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// The kernel then tells the loader not to trust the environment.
bool has_other_rights(int file, const struct stat &status) {
    const bool by_mode = ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
                         ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid());
    const bool by_capability = geteuid() != 0 && fgetxattr(file, "security.capability", nullptr, 0) > 0;
    if (!by_mode && !by_capability) return false;
    struct statvfs system {};
    const bool is_ignored = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
                            (fstatvfs(file, &system) == 0 && (system.f_flag & ST_NOSUID) != 0);
    return !is_ignored;
}

// The loader itself, called as a program, loads what its environment says.
bool is_loader(const Header &header, const char *name) {
    return header.e_type == ET_DYN && std::strncmp(name, "ld", 2) == 0;
}

bool has_loader_of_this_libc(int file, const Header &header, const char *name) {
    for (std::size_t i = 0; i < std::min<std::size_t>(header.e_phnum, kMostSegments); ++i) {
        Segment segment{};
        if (!read_whole(file, header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return true;
        if (segment.p_type != PT_INTERP) continue;
        char interpreter[kMostInterpreter] = {};
        const std::size_t bytes = std::min<std::size_t>(segment.p_filesz, sizeof interpreter - 1);
        return !read_whole(file, segment.p_offset, &interpreter[0], bytes) ||
               std::strstr(&interpreter[0], "musl") == nullptr;
    }
    return is_loader(header, name);
}

// A script is run by another program, without the script's rights: nothing is known of that program here.
bool can_load_named(int file, const char *name) {
    struct stat status {};
    Header header{};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return true;
    if (!read_whole(file, 0, &header, sizeof header) || std::memcmp(&header.e_ident[0], ELFMAG, SELFMAG) != 0)
        return true;
    if (has_other_rights(file, status)) return false;
    const bool is_native = header.e_ident[EI_CLASS] == __ehdr_start.e_ident[EI_CLASS] &&
                           header.e_ident[EI_DATA] == __ehdr_start.e_ident[EI_DATA] &&
                           header.e_machine == __ehdr_start.e_machine && header.e_phentsize == sizeof(Segment);
    return is_native && has_loader_of_this_libc(file, header, name);
}

// The kernel runs a program, but no script, that this user may not read.
bool can_load_unread(const char *path) {
    const int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0) return true;
    struct stat status {};
    const bool can = fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !has_other_rights(file, status);
    close(file);
    return can;
}

const char *name_in_folder(const char *path) {
    const char *const slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

// Of `PATH`, the part that begins there.
bool join(const char *folder, std::size_t length, const char *name, char *path) {
    const std::size_t letters = std::strlen(name);
    if (length + 1 + letters + 1 > kMostPath) return false;
    std::memcpy(path, folder, length);
    if (length != 0) path[length++] = '/';  // an empty part is the current folder
    std::memcpy(path + length, name, letters + 1);
    return true;
}

}  // namespace

bool can_load(int file) {
    const KeptErrno kept;
    return can_load_named(file, "");
}

bool can_load(const char *path) {
    const KeptErrno kept;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return can_load_unread(path);
    const bool can = can_load_named(file, name_in_folder(path));
    close(file);
    return can;
}

bool can_load_by_name(const char *name) {
    const KeptErrno kept;
    if (std::strchr(name, '/') != nullptr) return can_load(name);
    const char *folders = platform::variable("PATH");
    while (folders != nullptr) {
        const std::size_t length = std::strcspn(folders, ":");
        char path[kMostPath];
        if (join(folders, length, name, &path[0]) && access(&path[0], X_OK) == 0) return can_load(&path[0]);
        folders = folders[length] == '\0' ? nullptr : folders + length + 1;
    }
    return true;
}

}  // namespace gr
