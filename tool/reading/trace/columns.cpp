// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/trace/columns.hpp"

#include <cstring>
#include <new>

#include "reading/trace/chunk.hpp"

namespace gr::trace {

void NumberWriter::put_long(std::uint64_t number) {
    for (; number > 0x7f; number >>= 7) put_byte(static_cast<std::uint8_t>(number | 0x80));
    put_byte(static_cast<std::uint8_t>(number));
}

void NumberWriter::grow() { bytes_.resize(2 * bytes_.size() + kMostBytes); }

std::uint64_t NumberReader::take_long() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; next_ != end_; shift += 7) {
        const std::uint8_t byte = *next_++;
        number |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) return number;
        if (shift == 63) throw Damage("a number is too long");
    }
    throw Damage("a column is too short");
}

ColumnPacker::ColumnPacker(int level) : context_(ZSTD_createCCtx()), level_(level) {
    if (context_ == nullptr) throw std::bad_alloc();
}

void ColumnPacker::add(std::uint8_t column, ByteView raw) {
    if (raw.empty()) return;
    const std::size_t at = body_.size();
    body_.resize(at + sizeof(ColumnHead) + ZSTD_compressBound(raw.size()));
    const std::size_t room = body_.size() - at - sizeof(ColumnHead);
    std::uint8_t *const data = body_.data() + at + sizeof(ColumnHead);
    const std::size_t bytes = ZSTD_compressCCtx(context_.get(), data, room, raw.data(), raw.size(), level_);
    if (ZSTD_isError(bytes) != 0) throw std::runtime_error(ZSTD_getErrorName(bytes));
    const ColumnHead head{column, kZstd, 0, static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(raw.size())};
    std::memcpy(body_.data() + at, &head, sizeof head);
    body_.resize(at + sizeof head + bytes);
}

ColumnUnpacker::ColumnUnpacker() : context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
}

std::vector<Bytes> ColumnUnpacker::unpack(ByteView body, std::uint8_t most, std::uint64_t most_bytes) {
    std::vector<Bytes> columns(std::size_t{most} + 1);
    while (!body.empty()) {
        ColumnHead head;
        if (body.size() < sizeof head) throw Damage("the head of a column is cut off");
        std::memcpy(&head, body.data(), sizeof head);
        body = body.subspan(sizeof head);
        if (head.bytes > body.size()) throw Damage("a column is longer than its chunk");
        const ByteView data = body.first(head.bytes);
        body = body.subspan(head.bytes);
        if (head.column > most) continue;  // of a later version
        if (head.coding != kZstd) throw Damage("a column is compressed in an unknown way");
        if (head.raw_bytes > most_bytes) throw Damage("a column is longer than its rows can be");
        Bytes &raw = columns[head.column];
        if (!raw.empty()) throw Damage("a column is there twice");
        raw.resize(head.raw_bytes);
        const std::size_t bytes = ZSTD_decompressDCtx(context_.get(), raw.data(), raw.size(), data.data(), data.size());
        if (ZSTD_isError(bytes) != 0 || bytes != raw.size()) throw Damage("a column cannot be decompressed");
    }
    return columns;
}

}  // namespace gr::trace
