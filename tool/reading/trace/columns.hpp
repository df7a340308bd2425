// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: columns of numbers as bytes: seven bits of a number a byte, the lowest first; compressed and back.
// Invariant: what was put is what is taken. Whatever bytes come in, nothing outside them is read.
// Must not know: what the numbers mean.
#pragma once

#include <zstd.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::trace {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

// A file is not what it says it is; the text says how.
class Damage : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Small numbers of either sign become small numbers.
constexpr std::uint64_t zigzag(std::uint64_t difference) { return difference << 1 ^ (0 - (difference >> 63)); }
constexpr std::uint64_t unzigzag(std::uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }
static_assert(unzigzag(zigzag(std::uint64_t(-5))) == std::uint64_t(-5) && zigzag(std::uint64_t(-1)) == 1,
              "zigzag has an inverse");

class NumberWriter {
  public:
    void put(std::uint64_t number) {
        if (number < 0x80) return put_byte(static_cast<std::uint8_t>(number));
        if (number >> kSpreadBits != 0) [[unlikely]]
            return put_long(number);
        // All bytes at once: no CPU foresees where a loop over them ends.
        const unsigned further = (static_cast<unsigned>(std::bit_width(number)) - 1) / 7;
        const std::uint64_t bytes = spread(number) | (kFurther & ((std::uint64_t{1} << 8 * further) - 1));
        static_assert(std::endian::native == std::endian::little, "the lowest byte is written first");
        make_room();
        std::memcpy(bytes_.data() + size_, &bytes, sizeof bytes);
        size_ += further + 1;
    }
    void put_difference(std::uint64_t difference) { put(zigzag(difference)); }
    void put_byte(std::uint8_t byte) {
        make_room();
        bytes_[size_++] = byte;
    }
    [[nodiscard]] ByteView bytes() const { return ByteView(bytes_).first(size_); }
    void clear() { size_ = 0; }

  private:
    static constexpr unsigned kSpreadBits = 56;                    // seven in each of eight bytes
    static constexpr std::uint64_t kFurther = 0x8080808080808080;  // of each byte, that another one follows
    static constexpr std::size_t kMostBytes = 8;                   // that are written at once

    static constexpr std::uint64_t spread(std::uint64_t number) {
        number = (number & 0x00fffffff0000000) << 4 | (number & 0x000000000fffffff);
        number = (number & 0x0fffc0000fffc000) << 2 | (number & 0x00003fff00003fff);
        return (number & 0x3f803f803f803f80) << 1 | (number & 0x007f007f007f007f);
    }
    void make_room() {
        if (bytes_.size() - size_ < kMostBytes) [[unlikely]]
            grow();
    }
    void put_long(std::uint64_t number);
    void grow();

    Bytes bytes_;  // behind size_ is room
    std::size_t size_ = 0;
};

class NumberReader {
  public:
    NumberReader() = default;
    explicit NumberReader(ByteView bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    // Most numbers are one byte.
    std::uint64_t take() { return next_ != end_ && *next_ < 0x80 ? *next_++ : take_long(); }
    std::uint64_t take_difference() { return unzigzag(take()); }
    std::uint8_t take_byte() {
        if (next_ == end_) throw Damage("a column is too short");
        return *next_++;
    }
    [[nodiscard]] bool is_at_end() const { return next_ == end_; }

  private:
    std::uint64_t take_long();

    const std::uint8_t *next_ = nullptr;
    const std::uint8_t *end_ = nullptr;
};

// The body of a chunk, of columns.
class ColumnPacker {
  public:
    explicit ColumnPacker(int level);

    // Nothing, of a column that is empty.
    void add(std::uint8_t column, ByteView raw);
    [[nodiscard]] ByteView body() const { return body_; }
    void clear() { body_.clear(); }

  private:
    struct Free {
        void operator()(ZSTD_CCtx *context) const { ZSTD_freeCCtx(context); }
    };
    std::unique_ptr<ZSTD_CCtx, Free> context_;
    int level_;
    Bytes body_;
};

class ColumnUnpacker {
  public:
    ColumnUnpacker();

    // By the columns' numbers, from 0 to most: those that are there. Throws Damage, also where one has more than most_bytes.
    std::vector<Bytes> unpack(ByteView body, std::uint8_t most, std::uint64_t most_bytes);

  private:
    struct Free {
        void operator()(ZSTD_DCtx *context) const { ZSTD_freeDCtx(context); }
    };
    std::unique_ptr<ZSTD_DCtx, Free> context_;
};

}  // namespace gr::trace
