// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: writes a file that is there when it is whole.
// Invariant: whatever happens, under that name lies what lay there before, or all of the new. What is no regular file
//    (a pipe, /dev/null) is written in place.
// Must not know: what is written.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace gr::tool {

enum class FileAccess { as_usual, owner_only };

class WholeFile {
  public:
    // Each throws Failure.
    explicit WholeFile(const std::string &path, FileAccess access = FileAccess::as_usual);
    void write(std::string_view bytes);
    void finish();

    ~WholeFile();
    WholeFile(const WholeFile &) = delete;
    WholeFile &operator=(const WholeFile &) = delete;

  private:
    [[noreturn]] void fail(int error) const;

    std::string path_;
    std::string beside_;  // where it is written; path_: in place
    std::ofstream file_;
    bool is_finished_ = false;
};

// Throws Failure.
void write_whole(const std::string &path, std::string_view content);

}  // namespace gr::tool
