// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a trace once more, with names in it.
// Invariant: all chunks that could be read are there, byte for byte, but for names that were there before. The file is
//    whole, or as it was.
// Must not know: where the names come from.
#pragma once

#include <span>
#include <string>

#include "reading/trace/contents.hpp"
#include "reading/trace/reader.hpp"

namespace gr::trace {

// The path may be the trace's own. Throws Failure.
void write_named(const Trace &trace, std::span<const NamedPlace> places, const std::string &path);

}  // namespace gr::trace
