// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where an export goes: a file or standard output, as it is or compressed.
// Invariant: bytes come out in the order in which they went in; without finish() there is no file.
// Must not know: what the bytes mean.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gr::tool {

class Sink {
  public:
    virtual ~Sink() = default;
    // Each throws Failure.
    virtual void write(std::string_view bytes) = 0;
    virtual void finish() = 0;
};

enum class Compression : std::uint8_t { none, gzip, zstd };

// path: "-" is standard output.
[[nodiscard]] std::unique_ptr<Sink> sink_to(const std::string &path, Compression compression);

}  // namespace gr::tool
