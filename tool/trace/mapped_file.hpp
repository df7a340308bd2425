// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a file as bytes.
// Invariant: read only, and mapped, so that what nobody looks at is not read.
// Must not know: what it holds.
#pragma once

#include <string>

#include "trace/columns.hpp"

namespace gr::trace {

class MappedFile {
  public:
    // Throws Failure.
    explicit MappedFile(const std::string &path);
    ~MappedFile();
    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;

    [[nodiscard]] ByteView bytes() const { return bytes_; }

  private:
    ByteView bytes_;
};

}  // namespace gr::trace
