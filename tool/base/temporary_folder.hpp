// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a folder for files of this process alone.
// Invariant: it is new, only this user may enter it, and it goes with all that is in it.
// Must not know: what is put into it.
#pragma once

#include <string>

namespace gr::tool {

class TemporaryFolder {
  public:
    // The purpose is in its name. Throws Failure.
    explicit TemporaryFolder(const std::string &purpose);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;

    [[nodiscard]] const std::string &path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace gr::tool
