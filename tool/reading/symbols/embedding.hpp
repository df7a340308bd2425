// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: puts the names of a trace's code into the trace, so that another machine can read them.
// Invariant: names that were in the trace stay where the files here do not know better.
// Must not know: command lines.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "reading/symbols/file_search.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

struct Embedded {
    std::size_t places = 0;  // in the trace's stacks
    std::size_t named = 0;
    std::map<std::string, FileState> unread;  // files, by path, that no names came from
};

// Writes the trace with names to that path, which may be its own. Throws Failure.
Embedded embed_names(const trace::Trace &trace, const FileSearch &search, const std::string &path);

}  // namespace gr::tool
