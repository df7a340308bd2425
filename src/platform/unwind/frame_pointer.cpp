// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "platform/unwind/frame_pointer.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "platform/process.hpp"

// As in stack_walk.cpp.
#pragma weak _dl_find_object

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

// The loaded file that code lies in; nullptr: none.
const void *file_of(std::uintptr_t code) {
    dl_find_object object{};
    if (&_dl_find_object == nullptr) return nullptr;
    return _dl_find_object(reinterpret_cast<void *>(code - 1), &object) == 0 ? object.dlfo_map_start : nullptr;
}

bool is_in_one_file(std::uintptr_t code, std::uintptr_t other) {
    const void *const file = file_of(code);
    return file != nullptr && file == file_of(other);
}

// Java's interpreter goes on at places behind no call. It lies in the same range as all code that the virtual machine makes.
bool is_beside_made_code(std::uintptr_t code, std::uintptr_t made) {
    constexpr std::uintptr_t kMostApart = std::uintptr_t{1} << 28;
    const std::uintptr_t apart = code < made ? made - code : code - made;
    std::uintptr_t word = 0;
    return apart < kMostApart && file_of(made) == nullptr && file_of(code) == nullptr && read_word(code, &word);
}

}  // namespace

// Go runs C on another stack than its own functions, which lies far below that of a thread. Only such a distance is passed
// in this direction, so that a walk cannot go in circles.
bool step_by_frame_pointer(Frame *frame) {
    constexpr std::uintptr_t kMostBytes = std::uintptr_t{1} << 20;
    constexpr std::uintptr_t kFar = std::uintptr_t{1} << 36;
    constexpr std::uintptr_t kLeast = 4096;  // below, nothing is mapped: the outermost frames have such a number
    const std::uintptr_t at = frame->frame_pointer;
    std::uintptr_t pointer = 0;
    std::uintptr_t code = 0;
    const bool is_near = at - frame->stack < kMostBytes;
    const bool is_far_below = at >= kLeast && at < frame->stack && frame->stack - at >= kFar;
    if ((!is_near && !is_far_below) || at % kWord != 0) return false;
    if (!read_word(at, &pointer) || !read_word(at + kWord, &code)) return false;
    const bool is_above = pointer > at && pointer - at < kMostBytes;
    const bool leads_on = is_behind_call(code) ? is_near || is_in_one_file(code, frame->code)
                                               : is_near && is_above && is_beside_made_code(code, frame->code);
    if (!leads_on) return false;
    *frame = {code, at + 2 * kWord, pointer};
    return true;
}

}  // namespace gr::platform
