// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a file in Arrow's IPC format: its schema, its dictionaries, its batches of rows, and the footer that finds
//    them.
// Invariant: every piece begins at a multiple of eight bytes; no column has nulls.
// Must not know: what the columns mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "commands/export/flat_buffer.hpp"
#include "commands/export/sink.hpp"

namespace gr::tool {

struct ArrowColumn {
    std::string name;
    unsigned bytes = 0;          // of an unsigned number
    bool is_dictionary = false;  // the number is the place of a text in the dictionary of the column's own number
};

// What lies behind each other in a column.
class ArrowNumbers {
  public:
    explicit ArrowNumbers(unsigned bytes) : width_(bytes) {}
    void add(std::uint64_t value) {
        for (unsigned i = 0; i < width_; ++i, value >>= 8) bytes_ += static_cast<char>(value);
    }
    void clear() { bytes_.clear(); }
    [[nodiscard]] const std::string &bytes() const { return bytes_; }
    [[nodiscard]] std::size_t count() const { return bytes_.size() / width_; }

  private:
    unsigned width_;
    std::string bytes_;
};

class ArrowFile {
  public:
    ArrowFile(std::vector<ArrowColumn> columns, Sink &sink);

    // All of them before any rows.
    void dictionary(std::size_t column, const std::vector<std::string> &texts);
    void rows(const std::vector<ArrowNumbers> &columns);
    void finish();

  private:
    struct Block {
        std::uint64_t at = 0;
        std::uint64_t head_bytes = 0;
        std::uint64_t body_bytes = 0;
    };
    using Buffers = std::vector<std::string_view>;

    FlatBuffer::Place field(FlatBuffer &flat, std::size_t column) const;
    FlatBuffer::Place schema(FlatBuffer &flat) const;
    static FlatBuffer::Place batch(FlatBuffer &flat, std::uint64_t rows, std::size_t columns, const Buffers &buffers);
    static FlatBuffer::Place blocks(FlatBuffer &flat, const std::vector<Block> &blocks);
    Block message(FlatBuffer &flat, unsigned kind, FlatBuffer::Place head, const Buffers &buffers);
    void write(std::string_view bytes);

    std::vector<ArrowColumn> columns_;
    Sink &sink_;
    std::uint64_t at_ = 0;
    std::vector<Block> dictionaries_;
    std::vector<Block> batches_;
};

}  // namespace gr::tool
