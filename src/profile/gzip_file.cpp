// SPDX-License-Identifier: Apache-2.0 OR MIT
// After RFC 1951 and RFC 1952.
#include "profile/gzip_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"
#include "platform/thread.hpp"

namespace gr {
namespace {

constexpr std::uint8_t kHead[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};

// The CRC-32 table for four bits at a time.
constexpr std::array<std::uint32_t, 16> kRemainders = [] {
    std::array<std::uint32_t, 16> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t remainder = i;
        for (unsigned bit = 0; bit < 4; ++bit) remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? 0xedb88320 : 0);
        table[i] = remainder;
    }
    return table;
}();

std::uint32_t checked(std::uint32_t check, const std::uint8_t *bytes, std::size_t size) {
    check = ~check;
    for (std::size_t i = 0; i < size; ++i) {
        check ^= bytes[i];
        check = check >> 4 ^ kRemainders[check & 15];
        check = check >> 4 ^ kRemainders[check & 15];
    }
    return ~check;
}

void store(std::uint8_t *to, std::uint32_t number, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(number >> (8 * i));
}

}  // namespace

GzipFile::GzipFile(const char *path, Room *room) : path_(path), room_(room), file_(-ENAMETOOLONG) {
    Text beside(&room->beside[0], sizeof room->beside);
    beside << path << '.' << platform::process_id() << '.' << platform::thread_number() << ".part" << '\0';
    if (!beside.truncated()) {
        // Removes what an ended process left under this name. If another user's file stays, nothing is written.
        platform::remove_file(&room->beside[0]);
        file_ = platform::create_file(&room->beside[0]);
    }
    if (file_ < 0) error_ = file_;
    put(&kHead[0], sizeof kHead);
}

GzipFile::~GzipFile() {
    if (file_ < 0) return;
    platform::close_file(file_);
    platform::remove_file(&room_->beside[0]);
}

void GzipFile::put(const std::uint8_t *bytes, std::size_t size) {
    if (error_ == 0) error_ = platform::write_all(static_cast<int>(file_), reinterpret_cast<const char *>(bytes), size);
}

void GzipFile::end_block(bool is_last) {
    const auto size = static_cast<std::uint32_t>(used_ - kHeadBytes);
    check_ = checked(check_, &room_->block[kHeadBytes], size);
    size_ += size;
    room_->block[0] = is_last ? 1 : 0;  // block type: stored
    store(&room_->block[1], size, 2);
    store(&room_->block[3], ~size, 2);
    put(&room_->block[0], used_);
    used_ = kHeadBytes;
}

void GzipFile::write(const void *bytes, std::size_t size) {
    const auto *from = static_cast<const std::uint8_t *>(bytes);
    while (size != 0) {
        if (used_ == sizeof room_->block) end_block(false);
        const std::size_t room = sizeof room_->block - used_;
        const std::size_t fits = size < room ? size : room;
        std::memcpy(&room_->block[used_], from, fits);
        used_ += fits;
        from += fits;
        size -= fits;
    }
}

long GzipFile::finish() {
    end_block(true);
    std::uint8_t tail[8];
    store(&tail[0], check_, 4);
    store(&tail[4], size_, 4);
    put(&tail[0], sizeof tail);
    if (file_ < 0) return error_;
    const long closed = platform::close_file(file_);
    if (error_ == 0) error_ = closed;
    file_ = -EBADF;
    if (error_ == 0) error_ = platform::rename_file(&room_->beside[0], path_);
    if (error_ != 0) platform::remove_file(&room_->beside[0]);
    return error_;
}

}  // namespace gr
