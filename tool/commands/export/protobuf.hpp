// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a message of Protocol Buffers, as bytes.
// Invariant: fields stand in the order in which they were added; a number that is 0 and a text that is empty are the
//    default, and may be left out by who adds them.
// Must not know: any message's fields.
#pragma once

#include <granary/wire/profile_proto.hpp>

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gr::tool {

class Message {
  public:
    void number(std::uint32_t field, std::uint64_t value) {
        tag(field, profile_proto::Encoding::varint);
        varint(value);
    }
    void real(std::uint32_t field, double value) {
        tag(field, profile_proto::Encoding::eight_bytes);
        const auto bits = std::bit_cast<std::uint64_t>(value);
        for (unsigned shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift);
    }
    void text(std::uint32_t field, std::string_view value) {
        tag(field, profile_proto::Encoding::bytes);
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
    void tag(std::uint32_t field, profile_proto::Encoding encoding) { varint(profile_proto::tag(field, encoding)); }
    void varint(std::uint64_t value) {
        profile_proto::put_varint(value, [this](std::uint8_t byte) { bytes_ += static_cast<char>(byte); });
    }

    std::string bytes_;
};

}  // namespace gr::tool
