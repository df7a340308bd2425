// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: asks debuginfod's servers for files of programs, by elfutils' library where it is installed.
// Invariant: what a server sends lies in elfutils' cache; without this class no file of code is asked for.
// Must not know: what the files are read for.
#pragma once

#include <string>

namespace gr::tool {

class DebugServers {
  public:
    // Throws Failure where the library is missing or no server is named.
    DebugServers();
    ~DebugServers();
    DebugServers(const DebugServers &) = delete;
    DebugServers &operator=(const DebugServers &) = delete;

    // Both take a build id (hexadecimal) and return a path; empty: the servers have no such file.
    [[nodiscard]] std::string executable(const std::string &build_id) const;
    [[nodiscard]] std::string debug_information(const std::string &build_id) const;

  private:
    [[nodiscard]] std::string ask(const char *function, const std::string &build_id) const;

    void *library_ = nullptr;
    void *client_ = nullptr;
};

}  // namespace gr::tool
