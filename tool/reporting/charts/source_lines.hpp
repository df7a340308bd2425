// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: puts the lines of source files to the functions of a document: those from which a function calls, with some around.
// Invariant: at most kMostBytes of text in all, and kMostCalls calls of a function; the first functions of the document come
//    first.
// Must not know: where the files lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "reading/symbols/source_folder.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

class SourceLines {
  public:
    static constexpr std::size_t kMostBytes = std::size_t{1} << 19;
    static constexpr std::size_t kMostCalls = 6;
    static constexpr int kAround = 2;

    explicit SourceLines(const std::string &folder) : folder_(folder) {}

    void add_to(Frame *frame, const std::set<int> &calls);
    // What the reader of the page must know of these lines, each in a sentence. began: the wall clock of the recording.
    [[nodiscard]] std::vector<std::string> notes(std::int64_t began_nanoseconds) const;

  private:
    SourceFolder folder_;
    std::size_t bytes_ = 0;
    std::size_t without_room_ = 0;  // functions
    std::set<std::string> files_;   // by the names that debug information gives them
    std::vector<std::filesystem::file_time_type> changed_;
};

}  // namespace gr::tool
