// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: cgroup.hpp: the lines of /proc/self/cgroup, and the file that holds the limit in each group on the way up.
// Invariant: a group that cannot be seen from here (another namespace's path) is passed over; its hierarchy's root is
//    asked all the same, for in a container that is the group itself.
// Must not know: what the allocator does with the limit.
#include "platform/cgroup.hpp"

#include <cstddef>
#include <cstdint>

#include "base/config.hpp"
#include "base/text.hpp"
#include "platform/file.hpp"

namespace gr::platform {
namespace {

constexpr std::size_t kPathBytes = 4096;
constexpr std::size_t kFileBytes = 8192;
using Path = TextBuffer<kPathBytes>;

// Version 1 says no limit by the largest whole number of its pages.
constexpr std::size_t kUnlimited = std::size_t{PTRDIFF_MAX} / kUnitBytes * kUnitBytes;

// A number alone; "max" and whatever else is none.
std::size_t limit_in(const char *path) {
    char text[32];
    const std::size_t size = read_file(path, text, sizeof text);
    std::size_t number = 0;
    std::size_t at = 0;
    for (; at < size && text[at] >= '0' && text[at] <= '9'; ++at) {
        if (__builtin_mul_overflow(number, std::size_t{10}, &number)) return kNoMemoryLimit;
        if (__builtin_add_overflow(number, static_cast<std::size_t>(text[at] - '0'), &number)) return kNoMemoryLimit;
    }
    return at == 0 || number >= kUnlimited ? kNoMemoryLimit : number;
}

struct Span {
    const char *begin;
    const char *end;

    bool is(const char *word) const {
        const char *p = begin;
        while (p != end && *word != '\0' && *p == *word) ++p, ++word;
        return p == end && *word == '\0';
    }
    // What stands before the next `separator`, which is dropped with it.
    Span take_until(char separator) {
        Span head{begin, begin};
        while (head.end != end && *head.end != separator) ++head.end;
        begin = head.end == end ? end : head.end + 1;
        return head;
    }
};

bool names_memory(Span controllers) {
    while (controllers.begin != controllers.end) {
        if (controllers.take_until(',').is("memory")) return true;
    }
    return false;
}

// Of the group at root + hierarchy + group, and of each one around it.
std::size_t least_limit(const char *root, const char *hierarchy, Span group, const char *file) {
    std::size_t least = kNoMemoryLimit;
    for (;;) {
        while (group.end != group.begin && group.end[-1] == '/') --group.end;
        Path path;
        path << root << hierarchy;
        for (const char *p = group.begin; p != group.end; ++p) path << *p;
        path << file << '\0';
        const std::size_t limit = path.truncated() ? kNoMemoryLimit : limit_in(path.data());
        if (limit < least) least = limit;
        if (group.begin == group.end) return least;
        while (group.end != group.begin && group.end[-1] != '/') --group.end;
    }
}

}  // namespace

std::size_t cgroup_memory_limit(const char *membership, const char *root) {
    char text[kFileBytes];
    Span lines{text, text + read_file(membership, text, sizeof text)};
    std::size_t least = kNoMemoryLimit;
    while (lines.begin != lines.end) {
        Span line = lines.take_until('\n');  // hierarchy:controllers:group
        const Span hierarchy = line.take_until(':');
        const Span controllers = line.take_until(':');
        std::size_t limit = kNoMemoryLimit;
        if (hierarchy.is("0") && controllers.begin == controllers.end) {
            limit = least_limit(root, "", line, "/memory.max");
        } else if (names_memory(controllers)) {
            limit = least_limit(root, "/memory", line, "/memory.limit_in_bytes");
        }
        if (limit < least) least = limit;
    }
    return least;
}

}  // namespace gr::platform
