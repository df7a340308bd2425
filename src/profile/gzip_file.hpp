// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a file in gzip's container, its blocks stored as they are, which is there when it is whole.
// Invariant: takes no memory; under its name lies what lay there before, or all of the new. The first error is kept.
// Must not know: what is written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr {

class GzipFile {
  public:
    static constexpr std::size_t kPathBytes = 4096;
    // Too large for a signal's stack: its owner has it elsewhere.
    struct Room {
        char beside[kPathBytes + 32];  // the name until it is whole, of this thread's own
        std::uint8_t block[60 * 1024];
    };

    [[gnu::cold]] GzipFile(const char *path, Room *room);
    ~GzipFile();
    GzipFile(const GzipFile &) = delete;
    GzipFile &operator=(const GzipFile &) = delete;

    void write(const void *bytes, std::size_t size);
    // The kernel's negative errno, or 0: it is there.
    [[gnu::cold]] long finish();

  private:
    static constexpr std::size_t kHeadBytes = 5;  // of a block

    void put(const std::uint8_t *bytes, std::size_t size);
    void end_block(bool is_last);

    const char *path_;
    Room *room_;
    long file_;
    long error_ = 0;
    std::size_t used_ = kHeadBytes;
    std::uint32_t check_ = 0;  // of all that was written: CRC-32
    std::uint32_t size_ = 0;
};

}  // namespace gr
