// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: writes a file in gzip's container, with blocks that are stored and not compressed.
// Invariant: takes no memory. The path names the old file until the new file is complete. The first error is kept.
// Must not know: what is written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr {

class GzipFile {
  public:
    static constexpr std::size_t kPathBytes = 4096;
    // Too large for a signal handler's stack, so the caller provides it.
    struct Room {
        char beside[kPathBytes + 32];  // the file's name until it is complete; no other thread has this name
        std::uint8_t block[60 * 1024];
    };

    [[gnu::cold]] GzipFile(const char *path, Room *room);
    ~GzipFile();
    GzipFile(const GzipFile &) = delete;
    GzipFile &operator=(const GzipFile &) = delete;

    void write(const void *bytes, std::size_t size);
    // 0: the file is complete. Otherwise the kernel's negative errno.
    [[gnu::cold]] long finish();

  private:
    static constexpr std::size_t kHeadBytes = 5;  // of each block

    void put(const std::uint8_t *bytes, std::size_t size);
    void end_block(bool is_last);

    const char *path_;
    Room *room_;
    long file_;
    long error_ = 0;
    std::size_t used_ = kHeadBytes;
    std::uint32_t check_ = 0;  // CRC-32 of all bytes that were written
    std::uint32_t size_ = 0;
};

}  // namespace gr
