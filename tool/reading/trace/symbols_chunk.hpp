// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the names of a trace's code as a chunk: what lies in the trace itself, for machines that do not have the
//    program's files.
// Invariant: what was packed is what is unpacked. Every number and every text of a body is checked; the memory that a
//    chunk takes depends on its size.
// Must not know: where the names come from.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reading/trace/columns.hpp"
#include "reading/trace/contents.hpp"

namespace gr::trace {

// Adds what a chunk tells. Throws Damage.
void add_symbols(ByteView summary, ByteView body, Symbols *all);

// Whole chunks, each with its head: as many as the limits of one need. What a file may not have any more is left out.
[[nodiscard]] Bytes symbol_chunks(std::span<const NamedPlace> places);

}  // namespace gr::trace
