// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where the files of a recorded program are looked for on this machine.
// Invariant: a file is told only if its build id is the recorded one, or where one of both has none.
// Must not know: what the files are read for.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reading/symbols/debug_servers.hpp"
#include "reading/trace/contents.hpp"

namespace gr::tool {

struct FileSearch {
    std::string sysroot{};               // the root of the other machine's files; empty: this machine's
    std::vector<std::string> folders{};  // of files and of debug information, laid out as below /usr/lib/debug, or flat
    bool asks_servers = false;           // those that DEBUGINFOD_URLS names
};

enum class FileState { found, missing, other_build };

// Why a file tells no names: "/usr/bin/x is not there".
[[nodiscard]] std::string unread_text(const std::string &path, FileState state);

struct FoundFile {
    FileState state = FileState::missing;
    std::string path{};  // empty: there is none to read
};

class ModuleFiles {
  public:
    // Throws Failure, as DebugServers does.
    explicit ModuleFiles(FileSearch search);

    [[nodiscard]] const FoundFile &of(const trace::Module &module);
    // Where elfutils looks for debug information, in its own form.
    [[nodiscard]] std::string debug_path() const;

  private:
    [[nodiscard]] FoundFile find(const trace::Module &module) const;
    [[nodiscard]] std::vector<std::string> candidates(const trace::Module &module) const;

    FileSearch search_;
    std::unique_ptr<DebugServers> servers_;
    std::map<std::pair<std::string, std::string>, FoundFile> known_;
};

}  // namespace gr::tool
