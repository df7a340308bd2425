// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a message of Protocol Buffers, as bytes.
// Invariant: fields stand in the order in which they were added; a number that is 0 and a text that is empty are the
//    default, and may be left out by who adds them.
// Must not know: any message's fields.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gr::tool {

class Message {
  public:
    void number(std::uint32_t field, std::uint64_t value) {
        tag(field, kVarint);
        varint(value);
    }
    void real(std::uint32_t field, double value) {
        tag(field, kEightBytes);
        const auto bits = std::bit_cast<std::uint64_t>(value);
        for (unsigned shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift);
    }
    void text(std::uint32_t field, std::string_view value) {
        tag(field, kBytes);
        varint(value.size());
        bytes_ += value;
    }
    void message(std::uint32_t field, const Message &value) { text(field, value.bytes_); }
    void numbers(std::uint32_t field, std::span<const std::uint64_t> values) {
        Message packed;
        for (const std::uint64_t value : values) packed.varint(value);
        message(field, packed);
    }

    [[nodiscard]] const std::string &bytes() const { return bytes_; }

  private:
    static constexpr std::uint32_t kVarint = 0;
    static constexpr std::uint32_t kEightBytes = 1;
    static constexpr std::uint32_t kBytes = 2;

    void tag(std::uint32_t field, std::uint32_t kind) { varint(std::uint64_t{field} << 3 | kind); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

}  // namespace gr::tool
