// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "platform/unwind/frame_pointer.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include "platform/process.hpp"

namespace gr::platform {
namespace {

constexpr std::size_t kWord = sizeof(void *);

bool read_word(std::uintptr_t address, std::uintptr_t *word) {
    if (!is_readable(address)) return false;
    std::memcpy(word, reinterpret_cast<const void *>(address), kWord);
    return true;
}

#if defined(__x86_64__)
// A call has the byte e8 and four more, or the byte ff, a byte whose middle bits are 2, and up to five more.
bool is_behind_call(std::uintptr_t code) {
    constexpr std::size_t kMostBytes = 7;
    constexpr std::size_t kDirect = 5;
    std::uintptr_t word = 0;
    if (code < kWord || !read_word(code - kWord, &word)) return false;
    std::array<std::uint8_t, kWord> bytes;
    std::memcpy(bytes.data(), &word, sizeof word);
    if (bytes[kWord - kDirect] == 0xe8) return true;
    for (std::size_t back = 2; back <= kMostBytes; ++back) {
        if (bytes[kWord - back] == 0xff && (bytes[kWord - back + 1] >> 3 & 7) == 2) return true;
    }
    return false;
}
#else
// bl, or blr with any register.
bool is_behind_call(std::uintptr_t code) {
    std::uintptr_t word = 0;
    if (code < kWord || !read_word(code - kWord, &word)) return false;
    const auto instruction = static_cast<std::uint32_t>(word >> 32);
    return (instruction & 0xfc000000) == 0x94000000 || (instruction & 0xfffffc1f) == 0xd63f0000;
}
#endif

}  // namespace

bool step_by_frame_pointer(Frame *frame) {
    constexpr std::uintptr_t kMostBytes = std::uintptr_t{1} << 20;
    const std::uintptr_t at = frame->frame_pointer;
    std::uintptr_t pointer = 0;
    std::uintptr_t code = 0;
    if (at - frame->stack >= kMostBytes || at % kWord != 0) return false;
    if (!read_word(at, &pointer) || !read_word(at + kWord, &code) || !is_behind_call(code)) return false;
    *frame = {code, at + 2 * kWord, pointer};
    return true;
}

}  // namespace gr::platform
