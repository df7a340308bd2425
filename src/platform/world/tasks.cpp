// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tasks.hpp, by /proc/self/task.
// Invariant: as there.
// Must not know: what the threads are for.
#include "platform/world/tasks.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include <cstring>

#include "platform/syscall.hpp"

namespace gr::platform {
namespace {

// As the kernel writes it; the name follows.
struct Entry {
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t bytes;
    unsigned char type;
    char name[1];
};

std::uint32_t number_in(const char *name) {
    std::uint32_t number = 0;
    for (; *name >= '0' && *name <= '9'; ++name) number = number * 10 + static_cast<std::uint32_t>(*name - '0');
    return number;
}

}  // namespace

Tasks::Tasks() : fd_(system_call(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

Tasks::~Tasks() {
    if (opened()) system_call(SYS_close, fd_);
}

bool Tasks::read_more() {
    const long bytes = opened() ? system_call(SYS_getdents64, fd_, &names_[0], sizeof names_) : 0;
    at_ = 0;
    end_ = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    return end_ != 0;
}

std::uint32_t Tasks::next() {
    while (at_ < end_ || read_more()) {
        const auto *const entry = reinterpret_cast<const Entry *>(&names_[at_]);
        at_ += entry->bytes;
        if (const std::uint32_t id = number_in(&entry->name[0]); id != 0) return id;  // else "." or ".."
    }
    return 0;
}

std::uint32_t task_of_caller() { return static_cast<std::uint32_t>(system_call(SYS_gettid)); }

}  // namespace gr::platform
