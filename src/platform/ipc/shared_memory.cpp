// SPDX-License-Identifier: Apache-2.0 OR MIT
// Raw system calls only.
#include "platform/ipc/shared_memory.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "platform/file.hpp"
#include "platform/memory.hpp"
#include "platform/syscall.hpp"

namespace gr::platform {
namespace {

timespec time_of(unsigned milliseconds) {
    return {static_cast<time_t>(milliseconds / 1000), static_cast<long>(milliseconds % 1000) * 1000000};
}

}  // namespace

SharedFile map_shared(const char *path, SharedFile place) {
    const long fd = system_call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return {};
    struct stat status {};
    SharedFile file;
    if (system_call(SYS_fstat, fd, &status) == 0 && status.st_size > 0) {
        const auto bytes = static_cast<std::size_t>(status.st_size);
        const bool is_in_place = place.begin != nullptr && place.bytes == bytes;
        const int flags = MAP_SHARED | (is_in_place ? MAP_FIXED : 0);
        char *const at = is_in_place ? place.begin : nullptr;
        const long begin = system_call(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
        if (begin > 0) file = {reinterpret_cast<char *>(begin), bytes};
        if (begin > 0) system_call(SYS_madvise, begin, bytes, MADV_DONTDUMP);
    }
    system_call(SYS_close, fd);
    return file;
}

bool give_up_shared(SharedFile file) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    return system_call(SYS_mmap, file.begin, file.bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0) > 0;
}

bool sleep_on_shared(std::uint32_t *word, std::uint32_t value, unsigned milliseconds) {
    const timespec time = time_of(milliseconds);
    return system_call(SYS_futex, word, FUTEX_WAIT, value, &time, nullptr, 0) != -ETIMEDOUT;
}

void wake_shared(std::uint32_t *word) { system_call(SYS_futex, word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0); }

bool lives(unsigned process) {
    if (system_call(SYS_kill, process, 0) == -ESRCH) return false;
    TextBuffer<64> path;
    path << "/proc/" << process << "/stat" << '\0';
    char text[512];  // "<id> (<name, which may hold anything>) <state> ..."
    const std::size_t length = read_file(path.data(), &text[0], sizeof text);
    const char *const state = length == 0 ? nullptr : std::strrchr(&text[0], ')');
    return state == nullptr || (state[1] == ' ' && state[2] != 'Z' && state[2] != 'X');
}

bool wipe_in_children(void *pages, std::size_t bytes) {
    return system_call(SYS_madvise, pages, bytes, MADV_WIPEONFORK) == 0;
}

unsigned own_thread_id() { return static_cast<unsigned>(system_call(SYS_gettid)); }

void sleep_for(unsigned milliseconds) {
    const timespec time = time_of(milliseconds);
    system_call(SYS_nanosleep, &time, nullptr);
}

void own_thread_name(char *name) {
    name[0] = '\0';
    system_call(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
}

}  // namespace gr::platform
