// SPDX-License-Identifier: Apache-2.0 OR MIT
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

// Version 1 writes the largest multiple of its page size if there is no limit.
constexpr std::size_t kUnlimited = std::size_t{PTRDIFF_MAX} / kUnitBytes * kUnitBytes;

// Reads a file that holds one number. "max" and any other text mean that there is no limit.
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
    // Returns the text before the next `separator`, and drops both from this span.
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

// The least limit of the group at root + hierarchy + group and of each group around it. A group that cannot be seen
// from here (a path of another namespace) is skipped. The hierarchy's root is read anyway: in a container the root is
// the process's group.
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
