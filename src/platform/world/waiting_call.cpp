// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reads /proc/self/task/ID/syscall. The calls are those that signal(7) lists.
#include "platform/world/waiting_call.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/text.hpp"
#include "platform/file.hpp"
#include "platform/world/hexadecimal.hpp"
#include "platform/world/listing.hpp"

namespace gr::platform {
namespace {

// Newer than the headers of the oldest system that builds this.
constexpr std::uint64_t kEpollPwait2 = 441;  // of Linux 5.11

std::uint64_t take_decimal(const char **at) {
    std::uint64_t number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) number = number * 10 + static_cast<std::uint64_t>(**at - '0');
    return number;
}

// The number behind the next " 0x".
std::uint64_t take_hexadecimal(const char **at) {
    constexpr std::size_t kPrefix = 3;
    for (std::size_t i = 0; i < kPrefix && **at != '\0'; ++i) ++*at;
    std::uint64_t number = 0;
    for (; hexadecimal_digit(**at) != kNoDigit; ++*at)
        number = number * 16 + static_cast<std::uint64_t>(hexadecimal_digit(**at));
    return number;
}

}  // namespace

// "NUMBER ARGUMENTS STACK PROGRAM-COUNTER", all but the first in hexadecimal; "running"; or "-1 STACK PROGRAM-COUNTER"
// where it waits for something else, perhaps for a page: only for a moment.
WaitingCall WaitingCall::of_thread(std::uint32_t id) {
    TextBuffer<64> path;
    path << "/proc/self/task/" << id << "/syscall" << '\0';
    char text[256];
    read_and_close(open_listing(path.data()), &text[0], sizeof text);
    WaitingCall call;
    const char *at = &text[0];
    if (*at < '0' || *at > '9') return call;
    call.number = take_decimal(&at);
    for (std::uint64_t &argument : call.arguments) argument = take_hexadecimal(&at);
    call.stack_pointer = reinterpret_cast<const char *>(take_hexadecimal(&at));
    return call;
}

bool WaitingCall::is_ended_by_handlers() const {
    constexpr std::uint32_t kCommand = static_cast<std::uint32_t>(FUTEX_CMD_MASK);
    constexpr std::size_t kOperation = 1;
    constexpr std::size_t kLimit = 3;
    switch (number) {
#if defined(SYS_poll)
        case SYS_poll:
        case SYS_select:
        case SYS_pause:
        case SYS_epoll_wait:
#endif
        case SYS_ppoll:
        case SYS_pselect6:
        case SYS_nanosleep:
        case SYS_clock_nanosleep:
        case SYS_restart_syscall:
        case SYS_epoll_pwait:
        case kEpollPwait2:
        case SYS_rt_sigsuspend:
        case SYS_rt_sigtimedwait:
        case SYS_msgrcv:
        case SYS_msgsnd:
        case SYS_semop:
        case SYS_semtimedop:
        case SYS_io_getevents:
            return true;
        // With a limit of time. Another form of waiting may end for no reason anyway, and programs expect that.
        case SYS_futex:
            return (static_cast<std::uint32_t>(arguments[kOperation]) & kCommand) == FUTEX_WAIT_BITSET &&
                   arguments[kLimit] != 0;
        default:
            return false;
    }
}

bool WaitingCall::may_be_repeated() const {
    const auto is_negative = [&](std::size_t i) { return static_cast<std::int32_t>(arguments[i]) < 0; };
    const auto is_null = [&](std::size_t i) { return arguments[i] == 0; };
    switch (number) {
#if defined(SYS_epoll_wait)
        case SYS_epoll_wait:
#endif
        case SYS_epoll_pwait:
            return is_negative(3);
        case kEpollPwait2:
        case SYS_semtimedop:
            return is_null(3);
        case SYS_rt_sigtimedwait:
            return is_null(2);
        case SYS_io_getevents:
            return is_null(4);
        case SYS_semop:
            return true;
        default:
            return false;
    }
}

}  // namespace gr::platform
