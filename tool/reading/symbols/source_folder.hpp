// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the source files of one folder, found by the names that debug information gives them.
// Invariant: a trace chooses the names, so nothing is read but regular files below the folder that are called like sources and
//    whose path from there has no hidden name; a link that leads out of the folder leads nowhere. At most kMostBytes of a
//    file and kMostFiles of them.
// Must not know: what a line is shown for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gr::tool {

class SourceFolder {
  public:
    static constexpr std::size_t kMostBytes = std::size_t{4} << 20;
    static constexpr std::size_t kMostFiles = 4096;
    static constexpr std::size_t kMostLetters = 240;  // of a line

    struct File {
        std::vector<std::string> lines;  // fit to be shown
        std::filesystem::file_time_type changed;
    };

    // Throws Failure if there is no such folder.
    explicit SourceFolder(const std::string &folder);

    // Where the name says, or where its last parts, two at least, lie in the folder: a trace may come from elsewhere. nullptr:
    // nowhere.
    [[nodiscard]] const File *file(const std::string &name);
    // Whether a file lies where the name says.
    [[nodiscard]] bool has(const std::string &name) const;

  private:
    [[nodiscard]] std::optional<std::filesystem::path> allowed(const std::filesystem::path &path) const;
    [[nodiscard]] std::optional<std::filesystem::path> place_of(const std::string &name) const;

    std::filesystem::path folder_;
    std::map<std::string, std::optional<File>> files_;  // by name
};

}  // namespace gr::tool
