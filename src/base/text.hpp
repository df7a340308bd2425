// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a bounded text writer for messages and statistics; the buffer is the caller's.
// Invariant: never allocates, never writes past the buffer; what does not fit is cut, and truncated() says so.
// Must not know: where the text goes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gr {

class Text {
  public:
    constexpr Text(char *buffer, std::size_t capacity) : begin_(buffer), capacity_(capacity) {}

    constexpr Text &operator<<(char c) {
        if (size_ < capacity_) {
            begin_[size_++] = c;
        } else {
            truncated_ = true;
        }
        return *this;
    }
    constexpr Text &operator<<(const char *s) {
        while (*s != '\0') *this << *s++;
        return *this;
    }
    constexpr Text &operator<<(std::string_view s) {
        for (const char c : s) *this << c;
        return *this;
    }
    constexpr Text &operator<<(std::unsigned_integral auto n) {
        char digits[20];
        std::size_t count = 0;
        do {
            digits[count++] = static_cast<char>('0' + n % 10);
            n /= 10;
        } while (n != 0);
        while (count != 0) *this << digits[--count];
        return *this;
    }
    Text &operator<<(const void *p) {
        const std::uintptr_t value = reinterpret_cast<std::uintptr_t>(p);
        *this << "0x";
        unsigned shift = sizeof value * 8;
        while (shift > 4 && (value >> (shift - 4)) == 0) shift -= 4;
        while (shift != 0) {
            shift -= 4;
            *this << "0123456789abcdef"[(value >> shift) & 15];
        }
        return *this;
    }
    // Adds spaces until the line that starts at `from` is `column` characters wide.
    constexpr Text &pad(std::size_t from, std::size_t column) {
        while (size_ < from + column && !truncated_) *this << ' ';
        return *this;
    }

    constexpr const char *data() const { return begin_; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool truncated() const { return truncated_; }
    constexpr void clear() {
        size_ = 0;
        truncated_ = false;
    }

  private:
    char *begin_;
    std::size_t capacity_;
    std::size_t size_ = 0;
    bool truncated_ = false;
};

template <std::size_t Capacity>
struct TextBuffer : Text {
    TextBuffer() : Text(storage_, Capacity) {}
    TextBuffer(const TextBuffer &) = delete;
    TextBuffer &operator=(const TextBuffer &) = delete;

  private:
    char storage_[Capacity];
};

}  // namespace gr
