// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: plain_sections.hpp.
// Invariant: as there. The copy is the file, then the sections' own content; only their headers differ.
// Must not know: what the sections say.
#include "reading/process/plain_sections.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/read_at.hpp"

namespace gr::tool {

namespace {

constexpr Elf64_Word kZstd = 2;  // ELFCOMPRESS_ZSTD, which the headers of Debian 12 do not have
constexpr std::uint64_t kMostPlainBytes = std::uint64_t{1} << 32;  // of one section
constexpr std::uint64_t kAlignment = 64;

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool read_whole(int file, std::uint64_t offset, void *to, std::size_t bytes) {
    return read_at(file, offset, to, bytes) == bytes;
}

struct CompressedSection {
    std::size_t number = 0;
    std::uint64_t begin = 0;  // of what zstd made, behind its header
    std::uint64_t bytes = 0;
    std::uint64_t plain_begin = 0;  // in the copy
    std::uint64_t plain_bytes = 0;
    std::uint64_t alignment = 0;
};

// Those that zstd compressed; none where the file is no 64-bit ELF file of this machine's byte order.
class SectionHeaders {
  public:
    explicit SectionHeaders(int file) : file_(file) {
        struct ::stat status {};
        if (::fstat(file, &status) != 0 || !read_whole(file, 0, &header_, sizeof header_)) return;
        file_bytes_ = static_cast<std::uint64_t>(status.st_size);
        if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64 ||
            header_.e_ident[EI_DATA] != ELFDATA2LSB || header_.e_shentsize != sizeof(Elf64_Shdr))
            return;
        // The file may grow meanwhile: what counts is the size that the copy is made for.
        const std::uint64_t bytes = header_.e_shnum * sizeof(Elf64_Shdr);
        if (header_.e_shoff > file_bytes_ || bytes > file_bytes_ - header_.e_shoff) return;
        headers_.resize(header_.e_shnum);
        if (!read_whole(file, header_.e_shoff, headers_.data(), bytes)) headers_.clear();
    }

    [[nodiscard]] std::vector<CompressedSection> compressed() const {
        std::vector<CompressedSection> found;
        std::uint64_t end = aligned(file_bytes_);
        for (std::size_t i = 0; i < headers_.size(); ++i) {
            const Elf64_Shdr &header = headers_[i];
            Elf64_Chdr compression{};
            if ((header.sh_flags & SHF_COMPRESSED) == 0 || header.sh_size < sizeof compression ||
                header.sh_offset > file_bytes_ || header.sh_size > file_bytes_ - header.sh_offset ||
                !read_whole(file_, header.sh_offset, &compression, sizeof compression) ||
                compression.ch_type != kZstd || compression.ch_size > kMostPlainBytes)
                continue;
            found.push_back({i, header.sh_offset + sizeof compression, header.sh_size - sizeof compression, end,
                             compression.ch_size, compression.ch_addralign});
            end = aligned(end + compression.ch_size);
        }
        return found;
    }
    [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }
    [[nodiscard]] std::uint64_t begin() const { return header_.e_shoff; }
    [[nodiscard]] Elf64_Shdr plain(const CompressedSection &section) const {
        Elf64_Shdr header = headers_[section.number];
        header.sh_flags &= ~static_cast<Elf64_Xword>(SHF_COMPRESSED);
        header.sh_offset = section.plain_begin;
        header.sh_size = section.plain_bytes;
        header.sh_addralign = section.alignment;
        return header;
    }

  private:
    int file_;
    std::uint64_t file_bytes_ = 0;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Shdr> headers_;
};

bool fill(char *copy, int file, const SectionHeaders &headers, const std::vector<CompressedSection> &sections) {
    if (!read_whole(file, 0, copy, headers.file_bytes())) return false;
    for (const CompressedSection &section : sections) {
        if (ZSTD_decompress(copy + section.plain_begin, section.plain_bytes, copy + section.begin, section.bytes) !=
            section.plain_bytes)
            return false;
    }
    for (const CompressedSection &section : sections) {
        const Elf64_Shdr header = headers.plain(section);
        std::memcpy(copy + headers.begin() + section.number * sizeof header, &header, sizeof header);
    }
    return true;
}

}  // namespace

int with_plain_sections(int file) {
    const SectionHeaders headers(file);
    const std::vector<CompressedSection> sections = headers.compressed();
    if (sections.empty()) return file;
    const std::uint64_t bytes = sections.back().plain_begin + sections.back().plain_bytes;
    const int copy = ::memfd_create("plain sections", MFD_CLOEXEC);
    if (copy < 0) return file;
    bool is_filled = false;
    if (::ftruncate(copy, static_cast<::off_t>(bytes)) == 0) {
        void *const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, copy, 0);
        if (mapped != MAP_FAILED) {
            is_filled = fill(static_cast<char *>(mapped), file, headers, sections);
            ::munmap(mapped, bytes);
        }
    }
    ::close(is_filled ? file : copy);
    return is_filled ? copy : file;
}

}  // namespace gr::tool
