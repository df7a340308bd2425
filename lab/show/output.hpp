// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: JSON text to a file descriptor, through a buffer.
// Invariant: never allocates. A text of the program's is quoted, so that each line is one JSON value.
// Must not know: what is written.
#pragma once

#include <string_view>

#include "base/text.hpp"
#include "platform/process.hpp"
#include "show/known_ids.hpp"

namespace gr::lab::show {

inline void quote(auto &out, std::string_view text) {
    out << '"';
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out << '\\' << c;
        } else if (code < 0x20) {
            constexpr const char *kDigits = "0123456789abcdef";
            out << "\\u00" << kDigits[code >> 4] << kDigits[code & 15];
        } else {
            out << c;
        }
    }
    out << '"';
}

class Output {
  public:
    void open(int file) { file_ = file; }
    Output &operator<<(char c) {
        if (size_ == sizeof text_) flush();
        text_[size_++] = c;
        return *this;
    }
    Output &operator<<(std::string_view text) {
        for (const char c : text) *this << c;
        return *this;
    }
    Output &operator<<(std::unsigned_integral auto n) {
        TextBuffer<20> digits;
        digits << n;
        return *this << std::string_view(digits.data(), digits.size());
    }
    void flush() {
        if (platform::write_all(file_, &text_[0], size_) < 0)
            die_of("cannot write the file of steps: is the disk full?");
        size_ = 0;
    }

  private:
    int file_;
    std::size_t size_;
    char text_[1U << 16];
};

}  // namespace gr::lab::show
