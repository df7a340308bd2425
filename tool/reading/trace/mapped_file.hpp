// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a file as bytes.
// Invariant: read only, and mapped, so that what nobody looks at is not read. Who reads what somebody cut off ends with
//    one line.
// Must not know: what it holds.
#pragma once

#include <string>

#include "reading/trace/columns.hpp"

namespace gr::trace {

class MappedFile {
  public:
    // Throws Failure.
    explicit MappedFile(const std::string &path);
    ~MappedFile();
    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;

    [[nodiscard]] ByteView bytes() const { return bytes_; }

    // In a signal's handler.
    [[nodiscard]] bool holds(const void *address) const {
        return address >= bytes_.data() && address < bytes_.data() + bytes_.size();
    }
    [[noreturn]] void end_cut_short() const;

  private:
    ByteView bytes_;
    std::string last_words_;
};

}  // namespace gr::trace
