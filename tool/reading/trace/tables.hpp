// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: chunks that are tables, out of their columns; and what all chunks are checked for.
// Invariant: every number that comes from the file is compared with what it may be before it is used; what it may not
//    be throws Damage. A table takes memory for as many rows as its bytes can tell.
// Must not know: the chunks before, which a row may refer to.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reading/trace/columns.hpp"
#include "reading/trace/contents.hpp"

namespace gr::trace {

inline constexpr std::uint32_t kMostNumberBytes = 10;

template <class T>
T object_in(ByteView bytes) {
    T object;
    if (bytes.size() < sizeof object) throw Damage("a summary is too short");
    std::memcpy(&object, bytes.data(), sizeof object);
    return object;
}

// How many rows a table may have that says so itself.
inline void check_rows(std::uint32_t rows, ByteView body) {
    if (rows > kRowsOfAnyBody + std::uint64_t{kMostRowsPerByte} * body.size())
        throw Damage("a table has more rows than its bytes can tell");
}

// Of a table that has bytes for each row.
inline void check_rows_of_bytes(std::uint32_t rows, ByteView body) {
    if (rows > std::uint64_t{kMostRowsPerByte} * body.size())
        throw Damage("a table has more rows than its bytes can tell");
}

inline void check_time(Time time) {
    if (time.units > kMostTime) throw Damage("a time is not possible");
}

// Their stacks and threads are not checked.
[[nodiscard]] std::vector<Request> requests_in(ByteView summary, ByteView body);
[[nodiscard]] MemoryLook memory_in(const MemorySummary &summary, ByteView body);
[[nodiscard]] Resident resident_in(const ResidentSummary &summary, ByteView body);

}  // namespace gr::trace
