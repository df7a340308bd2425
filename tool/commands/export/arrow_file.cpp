// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: arrow_file.hpp: the tables of Arrow's Message.fbs, Schema.fbs and File.fbs, their fields by number.
// Invariant: as there.
// Must not know: what the columns mean.
#include "commands/export/arrow_file.hpp"

#include <utility>

namespace gr::tool {

namespace {

constexpr std::string_view kMagic = "ARROW1";
constexpr std::uint64_t kVersion5 = 4;
constexpr std::uint32_t kContinues = 0xffffffff;
constexpr std::size_t kBufferAlignment = 8;

namespace kind_of_message {
enum : unsigned { kSchema = 1, kDictionary, kRows };
}
namespace kind_of_type {
enum : unsigned { kInt = 2, kLargeText = 20 };
}
namespace message_field {
enum : unsigned { kVersion, kHeadKind, kHead, kBodyBytes };
}
namespace schema_field {
enum : unsigned { kFields = 1 };
}
namespace field_field {
enum : unsigned { kName, kIsNullable, kTypeKind, kType, kDictionary, kChildren };
}
namespace int_field {
enum : unsigned { kBits, kIsSigned };
}
namespace dictionary_field {
enum : unsigned { kId, kIndexType };
}
namespace batch_field {
enum : unsigned { kRows, kNodes, kBuffers };
}
namespace dictionary_batch_field {
enum : unsigned { kId, kData };
}
namespace footer_field {
enum : unsigned { kVersion, kSchema, kDictionaries, kBatches };
}

std::size_t rounded(std::size_t bytes) { return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment; }

std::string padding(std::size_t bytes) { return std::string(rounded(bytes) - bytes, '\0'); }

std::string four_bytes(std::size_t value) {
    std::string bytes;
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
    return bytes;
}

// The places of dictionaries' texts are signed, as most readers want them.
FlatBuffer::Place int_type(FlatBuffer &flat, unsigned bytes, bool is_signed) {
    return flat.table({FlatBuffer::number(int_field::kBits, 4, std::uint64_t{bytes} * 8),
                       FlatBuffer::number(int_field::kIsSigned, 1, is_signed ? 1 : 0)});
}

}  // namespace

ArrowFile::ArrowFile(std::vector<ArrowColumn> columns, Sink &sink) : columns_(std::move(columns)), sink_(sink) {
    write(kMagic);
    write(padding(kMagic.size()));
    FlatBuffer flat;
    const FlatBuffer::Place head = schema(flat);
    message(flat, kind_of_message::kSchema, head, {});
}

FlatBuffer::Place ArrowFile::field(FlatBuffer &flat, std::size_t column) const {
    const ArrowColumn &one = columns_[column];
    std::vector<FlatBuffer::Field> fields = {FlatBuffer::pointer(field_field::kName, flat.text(one.name)),
                                             FlatBuffer::pointer(field_field::kChildren, flat.vector({}))};
    if (one.is_dictionary) {
        const FlatBuffer::Place index = int_type(flat, one.bytes, true);
        const FlatBuffer::Place dictionary = flat.table({FlatBuffer::number(dictionary_field::kId, 8, column),
                                                         FlatBuffer::pointer(dictionary_field::kIndexType, index)});
        fields.push_back(FlatBuffer::pointer(field_field::kDictionary, dictionary));
        fields.push_back(FlatBuffer::number(field_field::kTypeKind, 1, kind_of_type::kLargeText));
        fields.push_back(FlatBuffer::pointer(field_field::kType, flat.table({})));
    } else {
        fields.push_back(FlatBuffer::number(field_field::kTypeKind, 1, kind_of_type::kInt));
        fields.push_back(FlatBuffer::pointer(field_field::kType, int_type(flat, one.bytes, false)));
    }
    return flat.table(std::move(fields));
}

FlatBuffer::Place ArrowFile::schema(FlatBuffer &flat) const {
    std::vector<FlatBuffer::Place> fields;
    for (std::size_t column = 0; column < columns_.size(); ++column) fields.push_back(field(flat, column));
    return flat.table({FlatBuffer::pointer(schema_field::kFields, flat.vector(fields))});
}

// Of each column: how many rows, and no nulls.
FlatBuffer::Place ArrowFile::batch(FlatBuffer &flat, std::uint64_t rows, std::size_t columns, const Buffers &buffers) {
    std::vector<std::uint64_t> nodes;
    for (std::size_t i = 0; i < columns; ++i) nodes.insert(nodes.end(), {rows, 0});
    std::vector<std::uint64_t> places;
    std::uint64_t at = 0;
    for (const std::string_view bytes : buffers) {
        places.insert(places.end(), {at, bytes.size()});
        at += rounded(bytes.size());
    }
    const FlatBuffer::Place node_list = flat.vector_of_numbers(nodes, 2);
    const FlatBuffer::Place buffer_list = flat.vector_of_numbers(places, 2);
    return flat.table({FlatBuffer::number(batch_field::kRows, 8, rows),
                       FlatBuffer::pointer(batch_field::kNodes, node_list),
                       FlatBuffer::pointer(batch_field::kBuffers, buffer_list)});
}

ArrowFile::Block ArrowFile::message(FlatBuffer &flat, unsigned kind, FlatBuffer::Place head, const Buffers &buffers) {
    std::uint64_t body_bytes = 0;
    for (const std::string_view bytes : buffers) body_bytes += rounded(bytes.size());
    const std::string bytes = flat.finish(flat.table({FlatBuffer::number(message_field::kVersion, 2, kVersion5),
                                                      FlatBuffer::number(message_field::kHeadKind, 1, kind),
                                                      FlatBuffer::pointer(message_field::kHead, head),
                                                      FlatBuffer::number(message_field::kBodyBytes, 8, body_bytes)}));
    const std::string start = four_bytes(kContinues) + four_bytes(bytes.size());
    const Block block{at_, start.size() + bytes.size(), body_bytes};
    write(start);
    write(bytes);
    for (const std::string_view buffer : buffers) {
        write(buffer);
        write(padding(buffer.size()));
    }
    return block;
}

void ArrowFile::dictionary(std::size_t column, const std::vector<std::string> &texts) {
    ArrowNumbers ends(8);
    std::string all;
    ends.add(0);
    for (const std::string &text : texts) {
        all += text;
        ends.add(all.size());
    }
    const Buffers buffers = {{}, ends.bytes(), all};
    FlatBuffer flat;
    const FlatBuffer::Place data = batch(flat, texts.size(), 1, buffers);
    const FlatBuffer::Place head = flat.table({FlatBuffer::number(dictionary_batch_field::kId, 8, column),
                                               FlatBuffer::pointer(dictionary_batch_field::kData, data)});
    dictionaries_.push_back(message(flat, kind_of_message::kDictionary, head, buffers));
}

void ArrowFile::rows(const std::vector<ArrowNumbers> &columns) {
    Buffers buffers;
    for (const ArrowNumbers &column : columns) {
        buffers.emplace_back();
        buffers.emplace_back(column.bytes());
    }
    FlatBuffer flat;
    const FlatBuffer::Place head = batch(flat, columns.front().count(), columns.size(), buffers);
    batches_.push_back(message(flat, kind_of_message::kRows, head, buffers));
}

// A struct of 24 bytes each, the second number of which has four, and four of nothing.
FlatBuffer::Place ArrowFile::blocks(FlatBuffer &flat, const std::vector<Block> &blocks) {
    std::vector<std::uint64_t> numbers;
    for (const Block &block : blocks) numbers.insert(numbers.end(), {block.at, block.head_bytes, block.body_bytes});
    return flat.vector_of_numbers(numbers, 3);
}

void ArrowFile::finish() {
    write(four_bytes(kContinues) + four_bytes(0));
    FlatBuffer flat;
    const FlatBuffer::Place columns = schema(flat);
    const FlatBuffer::Place dictionaries = blocks(flat, dictionaries_);
    const FlatBuffer::Place batches = blocks(flat, batches_);
    const std::string footer = flat.finish(flat.table({FlatBuffer::number(footer_field::kVersion, 2, kVersion5),
                                                       FlatBuffer::pointer(footer_field::kSchema, columns),
                                                       FlatBuffer::pointer(footer_field::kDictionaries, dictionaries),
                                                       FlatBuffer::pointer(footer_field::kBatches, batches)}));
    write(footer);
    write(four_bytes(footer.size()));
    write(kMagic);
}

void ArrowFile::write(std::string_view bytes) {
    sink_.write(bytes);
    at_ += bytes.size();
}

}  // namespace gr::tool
