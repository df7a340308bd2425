// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/export/flat_buffer.hpp"

#include <algorithm>

namespace gr::tool {

void FlatBuffer::align(unsigned alignment, std::size_t bytes) {
    while ((reversed_.size() + bytes) % alignment != 0) reversed_ += '\0';
}

void FlatBuffer::put(std::uint64_t value, unsigned bytes) {
    constexpr unsigned kByteBits = 8;
    for (unsigned i = bytes; i-- > 0;) reversed_ += static_cast<char>(value >> (kByteBits * i));
}

// From where it stands itself.
void FlatBuffer::put_offset(Place place) { put(size() + kOffsetBytes - place.from_end, kOffsetBytes); }

FlatBuffer::Place FlatBuffer::text(std::string_view text) {
    align(kOffsetBytes, text.size() + 1);
    reversed_ += '\0';
    reversed_.append(text.rbegin(), text.rend());
    put(text.size(), kOffsetBytes);
    return {size()};
}

FlatBuffer::Place FlatBuffer::vector(const std::vector<Place> &elements) {
    align(kOffsetBytes, 0);
    for (auto element = elements.rbegin(); element != elements.rend(); ++element) put_offset(*element);
    put(elements.size(), kOffsetBytes);
    return {size()};
}

FlatBuffer::Place FlatBuffer::vector_of_numbers(const std::vector<std::uint64_t> &numbers,
                                                unsigned numbers_of_element) {
    align(sizeof(std::uint64_t), 0);
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) put(*number, sizeof *number);
    put(numbers.size() / numbers_of_element, kOffsetBytes);
    return {size()};
}

FlatBuffer::Place FlatBuffer::table(std::vector<Field> fields) {
    const std::uint32_t end = size();
    std::uint16_t count = 0;
    for (const Field &field : fields) count = std::max(count, static_cast<std::uint16_t>(field.id + 1));
    std::vector<std::uint32_t> places(count);
    std::ranges::sort(fields, {}, &Field::bytes);
    for (const Field &field : fields) {
        const unsigned bytes = field.bytes == 0 ? kOffsetBytes : field.bytes;
        align(bytes, bytes);
        field.bytes == 0 ? put_offset({static_cast<std::uint32_t>(field.value)}) : put(field.value, bytes);
        places[field.id] = size();
    }
    constexpr unsigned kEntryBytes = 2;
    const unsigned entries_bytes = kEntryBytes * (2U + count);
    align(kOffsetBytes, kOffsetBytes);
    put(entries_bytes, kOffsetBytes);  // how far before it the list of its fields begins
    const std::uint32_t table = size();
    for (unsigned id = count; id-- > 0;) put(places[id] == 0 ? 0 : table - places[id], kEntryBytes);
    put(table - end, kEntryBytes);
    put(entries_bytes, kEntryBytes);
    return {table};
}

std::string FlatBuffer::finish(Place root) {
    align(sizeof(std::uint64_t), kOffsetBytes);
    put_offset(root);
    std::string bytes(reversed_.rbegin(), reversed_.rend());
    reversed_.clear();
    return bytes;
}

}  // namespace gr::tool
