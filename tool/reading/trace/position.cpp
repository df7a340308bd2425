// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: position.hpp.
// Invariant: as there. Differences wrap around, so that any numbers come back.
// Must not know: which moments are worth it.
#include "reading/trace/position.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gr::trace {

namespace {

constexpr unsigned kOpBits = 8;

void put(NumberWriter *writer, const Block &block, const Block &before) {
    writer->put(block.number - before.number);
    writer->put(block.born.units - before.born.units);
    writer->put(block.bytes_before - before.bytes_before);
    writer->put_difference(block.address - before.address);
    writer->put(block.size);
    writer->put(number_of(block.thread));
    writer->put(number_of(block.stack));
    writer->put(number_of(block.op) | std::uint64_t{block.log2_alignment} << kOpBits);
}

// What it held is the block before.
void take(NumberReader *reader, Block *block) {
    block->number += reader->take();
    block->born.units += reader->take();
    block->bytes_before += reader->take();
    block->address += reader->take_difference();
    block->size = reader->take();
    block->thread = ThreadNumber{static_cast<std::uint32_t>(reader->take())};
    block->stack = StackNumber{static_cast<std::uint32_t>(reader->take())};
    const std::uint64_t op = reader->take();
    block->op = static_cast<Op>(op);
    block->log2_alignment = static_cast<std::uint8_t>(op >> kOpBits);
}

}  // namespace

Position::Position(Time time, const LiveSet &live, std::uint64_t births, std::uint64_t bytes_born)
    : time_(time), births_(births), bytes_born_(bytes_born), count_(live.count()) {
    std::vector<std::pair<std::uint64_t, const Block *>> by_birth;
    by_birth.reserve(count_);
    live.for_each([&](const Block &block) { by_birth.emplace_back(block.number, &block); });
    std::sort(by_birth.begin(), by_birth.end());
    NumberWriter writer;
    const Block none;
    const Block *before = &none;
    for (const auto &[number, block] : by_birth) {
        put(&writer, *block, *before);
        before = block;
    }
    packed_.assign(writer.bytes().begin(), writer.bytes().end());
}

LiveSet Position::live() const {
    LiveSet live;
    NumberReader reader(packed_);
    Block block;
    for (std::size_t i = 0; i < count_; ++i) {
        take(&reader, &block);
        live.add(block);
    }
    return live;
}

}  // namespace gr::trace
