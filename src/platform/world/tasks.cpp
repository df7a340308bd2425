// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reads /proc/self/task.
#include "platform/world/tasks.hpp"

#include <sys/syscall.h>

#include <cstring>

#include "base/text.hpp"
#include "platform/file.hpp"
#include "platform/syscall.hpp"
#include "platform/world/hexadecimal.hpp"
#include "platform/world/listing.hpp"
#include "platform/world/waiting_call.hpp"

namespace gr::platform {
namespace {

constexpr char kBlocked[] = "SigBlk:\t";

// An entry of a folder, as the kernel writes it; the name follows.
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

// The beginning of /proc/self/task/ID/NAME; ended by a zero.
class TaskFile {
  public:
    TaskFile(std::uint32_t id, const char *name) {
        TextBuffer<64> path;
        path << "/proc/self/task/" << id << "/" << name << '\0';
        read_and_close(open_listing(path.data()), &text_[0], sizeof text_);
    }
    const char *text() const { return &text_[0]; }

  private:
    char text_[4096];
};

std::uint64_t hexadecimal_at(const char *text) {
    std::uint64_t number = 0;
    for (; hexadecimal_digit(*text) != kNoDigit; ++text)
        number = number * 16 + static_cast<std::uint64_t>(hexadecimal_digit(*text));
    return number;
}

std::uint64_t mask_in(const TaskFile &status, const char *name) {
    const char *const mask = std::strstr(status.text(), name);
    return mask == nullptr ? 0 : hexadecimal_at(mask + std::strlen(name));
}

}  // namespace

bool has_ended(std::uint32_t id) {
    constexpr char kState[] = "State:\t";
    const TaskFile status(id, "status");
    const char *const state = std::strstr(status.text(), kState);
    return state != nullptr && (state[sizeof kState - 1] == 'Z' || state[sizeof kState - 1] == 'X');
}

bool blocks_signal(std::uint32_t id, int signal) {
    return (mask_in(TaskFile(id, "status"), kBlocked) >> (signal - 1) & 1) != 0;
}

bool is_signal_due(std::uint32_t id) {
    const TaskFile status(id, "status");
    return ((mask_in(status, "SigPnd:\t") | mask_in(status, "ShdPnd:\t")) & ~mask_in(status, kBlocked)) != 0;
}

const char *sleeping_stack_pointer(std::uint32_t id) { return WaitingCall::of_thread(id).stack_pointer; }

bool makes_task(std::uint32_t id) {
    constexpr std::uint64_t kClone3 = 435;  // of kernel 5.3
    const std::uint64_t number = WaitingCall::of_thread(id).number;
    return number == SYS_clone || number == kClone3;
}

bool takes_signals(std::uint32_t id) { return WaitingCall::of_thread(id).number == SYS_rt_sigtimedwait; }

Tasks::Tasks() : fd_(open_listing("/proc/self/task")) {}

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

std::uint32_t task_count() {
    constexpr char kThreads[] = "Threads:\t";
    const TaskFile status(task_of_caller(), "status");
    const char *const threads = std::strstr(status.text(), kThreads);
    return threads == nullptr ? 0 : number_in(threads + sizeof kThreads - 1);
}

std::uint32_t task_of_caller() { return static_cast<std::uint32_t>(system_call(SYS_gettid)); }

}  // namespace gr::platform
