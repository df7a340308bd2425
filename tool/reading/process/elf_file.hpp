// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an ELF file, mapped and read: what is asked about programs and libraries.
// Invariant: nothing outside the mapping is read, however the file lies about its offsets; what is broken reads as
//    absent.
// Must not know: what malloc is.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gr::tool {

// A whole file, mapped for reading. Throws std::system_error when it cannot be.
class MappedFile {
  public:
    explicit MappedFile(const std::string &path);
    ~MappedFile();
    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

  private:
    std::string_view bytes_;
};

enum class ElfFormat {
    none,     // no ELF file at all
    foreign,  // for another architecture, word size or byte order than this command
    native,
};

struct ElfSymbol {
    std::string_view name;
    bool defined;
    bool global;  // other objects can see it
};

class ElfFile {
  public:
    // Throws std::system_error when the file cannot be read. Everything returned as string_view lives as long as this.
    explicit ElfFile(const std::string &path);

    [[nodiscard]] ElfFormat format() const noexcept { return format_; }
    // "32-bit", "aarch64": what a foreign file is for.
    [[nodiscard]] std::string machine_text() const;

    [[nodiscard]] unsigned type() const noexcept { return header_.e_type; }               // ET_EXEC, ET_DYN, ...
    [[nodiscard]] std::string_view interpreter() const noexcept { return interpreter_; }  // empty: none
    [[nodiscard]] const std::vector<std::string_view> &needed() const noexcept { return needed_; }
    [[nodiscard]] bool is_pie() const noexcept { return (flags_1_ & DF_1_PIE) != 0; }
    [[nodiscard]] bool is_symbolic() const noexcept { return symbolic_; }
    // Hexadecimal; empty: none.
    [[nodiscard]] std::string build_id() const;

    [[nodiscard]] bool has_section(std::string_view name) const;
    // .dynsym and .symtab; both need the section table, which a few tools strip.
    [[nodiscard]] bool has_section_table() const noexcept { return !sections_.empty(); }
    [[nodiscard]] std::vector<ElfSymbol> dynamic_symbols() const { return symbols(SHT_DYNSYM); }
    [[nodiscard]] std::vector<ElfSymbol> static_symbols() const { return symbols(SHT_SYMTAB); }

    // Where code that was mapped from that part of the file is to lie, before the whole is moved. Whole pages are mapped, so
    // the part may contain bytes of neighbouring segments: the executable segment with most bytes in it is meant.
    [[nodiscard]] std::optional<std::uint64_t> address_of_code(std::uint64_t offset, std::uint64_t bytes) const;

    // Where the file's only executable segment is to lie; none: it has several, or no.
    [[nodiscard]] std::optional<std::uint64_t> address_of_only_code() const;

    // The first line when the file is a script, without "#!"; else empty.
    [[nodiscard]] std::string_view script_line() const;
    // Not empty, and no zero byte where a program's header would be.
    [[nodiscard]] bool looks_like_text() const;

  private:
    template <class Record>
    [[nodiscard]] std::optional<Record> read(std::uint64_t offset) const;
    [[nodiscard]] std::string_view slice(std::uint64_t offset, std::uint64_t size) const;
    [[nodiscard]] std::optional<std::uint64_t> offset_of_address(std::uint64_t address) const;
    [[nodiscard]] std::vector<ElfSymbol> symbols(std::uint32_t section_type) const;
    void read_segments();
    void read_dynamic(const Elf64_Phdr &segment);
    void read_sections();

    MappedFile file_;
    ElfFormat format_ = ElfFormat::none;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Phdr> segments_;
    std::vector<Elf64_Shdr> sections_;
    std::string_view interpreter_;
    std::vector<std::string_view> needed_;
    std::uint64_t flags_1_ = 0;
    bool symbolic_ = false;
};

}  // namespace gr::tool
