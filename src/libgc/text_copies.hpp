// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: copies of strings, in memory that the caller's function allocates.
// Invariant: the copy ends with a zero; if there is no memory, errno says so.
// Must not know: how the memory is allocated.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gr {

// Copies at most `most` characters.
template <class Allocate>
char *copy_of_text(const char *text, std::size_t most, Allocate allocate) {
    const void *const end = std::memchr(text, '\0', most < PTRDIFF_MAX ? most : PTRDIFF_MAX);
    const std::size_t size = end == nullptr ? most : static_cast<std::size_t>(static_cast<const char *>(end) - text);
    auto *const copy = static_cast<char *>(allocate(size + 1));
    if (copy == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    std::memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

}  // namespace gr
