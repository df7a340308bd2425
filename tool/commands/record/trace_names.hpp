// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how traces are called: FILE is the program's, FILE with the name and the process id of another before its
//    ending is another's; without FILE, granary.NAME.PID.trace.
// Invariant: no name is given twice.
// Must not know: what is in them.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace gr::tool {

class TraceNames {
  public:
    // An empty file: none was asked for.
    explicit TraceNames(std::string file) : file_(std::move(file)) {}

    [[nodiscard]] const std::string &file() const { return file_; }
    [[nodiscard]] std::string of(const std::string &program, std::uint32_t process);

  private:
    std::string file_;
    std::set<std::string> given_;
};

}  // namespace gr::tool
