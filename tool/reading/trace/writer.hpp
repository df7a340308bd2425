// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: writes a trace file, chunk by chunk, as the program goes on.
// Invariant: after each call the file is whole up to there; what a chunk refers to (stacks) was written before it. A
//    write that fails throws Failure with the file's name, and cuts off what was half-written.
// Must not know: where events come from.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reading/trace/chunk.hpp"
#include "reading/trace/columns.hpp"
#include "reading/trace/contents.hpp"
#include "reading/trace/event.hpp"

namespace gr::trace {

class Writer {
  public:
    static constexpr int kLevel = 3;  // of zstd

    // Makes the file, or empties it.
    explicit Writer(const std::string &path);
    ~Writer();
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;

    void start(const Start &start);
    // Of one thread, kMostEvents at most, their times in order.
    void events(ThreadNumber thread, std::span<const Event> events, std::uint32_t lost);
    // Numbered on from the last.
    void stacks(std::span<const StackNode> nodes);
    void threads(std::span<const Thread> threads);
    void modules(const ModuleList &list);
    void marks(std::span<const Mark> marks);
    void samples(std::span<const Sample> samples);
    void requests(std::span<const Request> requests);
    // Names of memory, numbered on from the last.
    void memory_names(std::span<const std::string> names);
    void memory(const MemoryLook &look);
    void resident(const Resident &resident);
    void relative(const Relative &relative);
    void names(std::span<const NamedPlace> places);
    // Once, the last. Without it a trace counts as cut off.
    void end(const End &end);

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::uint64_t events_written() const { return events_; }

  private:
    template <class Summary>
    void write(ChunkKind kind, const Summary &summary, ByteView body);
    void write_json(ChunkKind kind, std::string_view json);
    void write_chunk(ChunkKind kind, ByteView summary, ByteView body);
    void write_bytes(std::initializer_list<ByteView> pieces);
    // At most kRowsOfAnyBody.
    void some_stacks(std::span<const StackNode> nodes);
    void pack(std::uint8_t column, NumberWriter &numbers);

    std::string path_;
    int file_ = -1;
    std::uint64_t bytes_ = 0;
    std::uint64_t events_ = 0;
    std::uint32_t nodes_ = 0;
    ColumnPacker packer_{kLevel};
    std::array<NumberWriter, 8> columns_;
};

}  // namespace gr::trace
