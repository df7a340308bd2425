// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a buffer in the form of FlatBuffers: tables of fields, texts and vectors that point at each other.
// Invariant: written from its end to its begin, so that what is pointed at is there before who points; a Place counts
//    from the end, and stays. Every number lies at a multiple of its size.
// Must not know: any table's fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gr::tool {

class FlatBuffer {
  public:
    struct Place {
        std::uint32_t from_end = 0;
    };
    struct Field {
        unsigned id = 0;
        unsigned bytes = 0;  // 0: value is a place
        std::uint64_t value = 0;
    };

    static Field number(unsigned id, unsigned bytes, std::uint64_t value) { return {id, bytes, value}; }
    static Field pointer(unsigned id, Place place) { return {id, 0, place.from_end}; }

    Place text(std::string_view text);
    Place vector(const std::vector<Place> &elements);
    // Structs of numbers of eight bytes.
    Place vector_of_numbers(const std::vector<std::uint64_t> &numbers, unsigned numbers_of_element);
    Place table(std::vector<Field> fields);

    // With what points at the root; a multiple of eight bytes.
    [[nodiscard]] std::string finish(Place root);

  private:
    static constexpr unsigned kOffsetBytes = 4;

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(reversed_.size()); }
    // Zeros, until what is then written with so many bytes ends at a multiple of the alignment.
    void align(unsigned alignment, std::size_t bytes);
    void put(std::uint64_t value, unsigned bytes);
    void put_offset(Place place);

    std::string reversed_;
};

}  // namespace gr::tool
