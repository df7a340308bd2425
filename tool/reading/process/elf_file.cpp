// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an ELF file, mapped and read.
// Invariant: every read goes through read() or slice(), which check it against the mapping.
// Must not know: what malloc is.
#include "reading/process/elf_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/regular_file.hpp"

// This command's own ELF header, which has the machine it was built for; the linker tells where it is mapped.
extern "C" __attribute__((visibility("hidden"))) const Elf64_Ehdr __ehdr_start;

namespace gr::tool {

namespace {

constexpr std::size_t kLongestLine = 256;  // of a script; Linux reads no more (BINPRM_BUF_SIZE)

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

constexpr unsigned char kNativeData = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

std::string_view terminated(std::string_view table, std::uint64_t offset) {
    if (offset >= table.size()) return {};
    const std::string_view rest = table.substr(offset);
    const std::size_t end = rest.find('\0');
    return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

}  // namespace

MappedFile::MappedFile(const std::string &path) {
    const int file = open_regular_file(path);
    if (file < 0) fail(errno);
    struct stat status {};
    int error = ::fstat(file, &status) == 0 ? 0 : errno;
    if (error == 0 && status.st_size > 0) {
        const auto size = static_cast<std::size_t>(status.st_size);
        const void *start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (start == MAP_FAILED) {
            error = errno;
        } else {
            bytes_ = {static_cast<const char *>(start), size};
        }
    }
    ::close(file);
    if (error != 0) fail(error);
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<char *>(bytes_.data()), bytes_.size());
}

template <class Record>
std::optional<Record> ElfFile::read(std::uint64_t offset) const {
    const std::string_view bytes = slice(offset, sizeof(Record));
    if (bytes.size() != sizeof(Record)) return std::nullopt;
    Record record;  // copied: offsets in a file need not be aligned
    std::memcpy(&record, bytes.data(), sizeof record);
    return record;
}

std::string_view ElfFile::slice(std::uint64_t offset, std::uint64_t size) const {
    const std::string_view all = file_.bytes();
    if (offset > all.size() || size > all.size() - offset) return {};
    return all.substr(offset, size);
}

ElfFile::ElfFile(const std::string &path) : file_(path) {
    const std::string_view ident = slice(0, EI_NIDENT);
    if (!ident.starts_with(std::string_view(ELFMAG, SELFMAG))) return;
    format_ = ElfFormat::foreign;
    const auto header = read<Elf64_Ehdr>(0);
    if (header) header_ = *header;
    std::memcpy(header_.e_ident, ident.data(), EI_NIDENT);
    if (header_.e_machine == 0) {  // a 32-bit header is shorter, but has the machine at the same place
        header_.e_machine = read<Elf64_Half>(offsetof(Elf64_Ehdr, e_machine)).value_or(EM_NONE);
    }
    const bool native = header && header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_ident[EI_DATA] == kNativeData &&
                        header_.e_machine == __ehdr_start.e_machine;
    if (!native) return;
    format_ = ElfFormat::native;
    read_segments();
    read_sections();
}

std::string ElfFile::machine_text() const {
    if (header_.e_ident[EI_CLASS] == ELFCLASS32) return "a 32-bit machine";
    if (header_.e_ident[EI_DATA] != kNativeData) return "a machine of other byte order";
    static constexpr std::array<std::pair<Elf64_Half, std::string_view>, 7> kNames{{{EM_X86_64, "x86-64"},
                                                                                    {EM_AARCH64, "aarch64"},
                                                                                    {EM_RISCV, "riscv64"},
                                                                                    {EM_PPC64, "ppc64"},
                                                                                    {EM_S390, "s390x"},
                                                                                    {EM_MIPS, "mips64"},
                                                                                    {EM_LOONGARCH, "loongarch64"}}};
    const auto *name = std::ranges::find(kNames, header_.e_machine, [](const auto &pair) { return pair.first; });
    if (name != kNames.end()) return std::string(name->second);
    return fmt::format("machine number {}", header_.e_machine);
}

void ElfFile::read_segments() {
    for (unsigned index = 0; index < header_.e_phnum; ++index) {
        const auto segment = read<Elf64_Phdr>(header_.e_phoff + std::uint64_t{index} * sizeof(Elf64_Phdr));
        if (!segment) return;
        segments_.push_back(*segment);
    }
    for (const Elf64_Phdr &segment : segments_) {
        if (segment.p_type == PT_INTERP) interpreter_ = terminated(slice(segment.p_offset, segment.p_filesz), 0);
        if (segment.p_type == PT_DYNAMIC) read_dynamic(segment);
    }
}

std::optional<std::uint64_t> ElfFile::offset_of_address(std::uint64_t address) const {
    for (const Elf64_Phdr &segment : segments_) {
        if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
        const std::uint64_t distance = address - segment.p_vaddr;
        if (distance < segment.p_filesz) return segment.p_offset + distance;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> ElfFile::address_of_code(std::uint64_t offset, std::uint64_t bytes) const {
    const Elf64_Phdr *best = nullptr;
    std::pair<bool, std::uint64_t> most{false, 0};  // whether it is executable, and its bytes in the part
    for (const Elf64_Phdr &segment : segments_) {
        if (segment.p_type != PT_LOAD) continue;
        const std::uint64_t begin = std::max(offset, segment.p_offset);
        const std::uint64_t end = std::min(offset + bytes, segment.p_offset + segment.p_filesz);
        if (begin >= end) continue;
        const std::pair score{(segment.p_flags & PF_X) != 0, end - begin};
        if (score > most) {
            best = &segment;
            most = score;
        }
    }
    if (best == nullptr) return std::nullopt;
    return best->p_vaddr - best->p_offset + offset;
}

std::optional<std::uint64_t> ElfFile::address_of_only_code() const {
    std::optional<std::uint64_t> address;
    for (const Elf64_Phdr &segment : segments_) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
        if (address) return std::nullopt;
        address = segment.p_vaddr;
    }
    return address;
}

void ElfFile::read_dynamic(const Elf64_Phdr &segment) {
    std::vector<std::uint64_t> names;
    std::uint64_t table_address = 0;
    std::uint64_t table_size = 0;
    for (std::uint64_t place = 0; place + sizeof(Elf64_Dyn) <= segment.p_filesz; place += sizeof(Elf64_Dyn)) {
        const auto entry = read<Elf64_Dyn>(segment.p_offset + place);
        if (!entry || entry->d_tag == DT_NULL) break;
        const std::uint64_t value = entry->d_un.d_val;
        if (entry->d_tag == DT_NEEDED) names.push_back(value);
        if (entry->d_tag == DT_STRTAB) table_address = value;
        if (entry->d_tag == DT_STRSZ) table_size = value;
        if (entry->d_tag == DT_FLAGS_1) flags_1_ = value;
        if (entry->d_tag == DT_SYMBOLIC || (entry->d_tag == DT_FLAGS && (value & DF_SYMBOLIC) != 0)) symbolic_ = true;
    }
    const auto table_offset = offset_of_address(table_address);
    if (!table_offset) return;
    const std::string_view table = slice(*table_offset, table_size);
    for (const std::uint64_t name : names) {
        const std::string_view text = terminated(table, name);
        if (!text.empty()) needed_.push_back(text);
    }
}

void ElfFile::read_sections() {
    for (unsigned index = 0; index < header_.e_shnum; ++index) {
        const auto section = read<Elf64_Shdr>(header_.e_shoff + std::uint64_t{index} * sizeof(Elf64_Shdr));
        if (!section) return;
        sections_.push_back(*section);
    }
}

std::string ElfFile::build_id() const {
    const auto aligned = [](std::uint64_t bytes) { return (bytes + 3) / 4 * 4; };
    for (const Elf64_Phdr &segment : segments_) {
        if (segment.p_type != PT_NOTE || segment.p_filesz > file_.bytes().size()) continue;
        for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= segment.p_filesz;) {
            const auto note = read<Elf64_Nhdr>(segment.p_offset + at);
            if (!note) break;
            const std::uint64_t name_at = at + sizeof(Elf64_Nhdr);
            const std::uint64_t id_at = name_at + aligned(note->n_namesz);
            at = id_at + aligned(note->n_descsz);
            if (note->n_type != NT_GNU_BUILD_ID) continue;
            if (slice(segment.p_offset + name_at, note->n_namesz) !=
                std::string_view(ELF_NOTE_GNU, sizeof ELF_NOTE_GNU))
                continue;
            std::string text;
            for (const char byte : slice(segment.p_offset + id_at, note->n_descsz))
                text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
            return text;
        }
    }
    return {};
}

bool ElfFile::has_section(std::string_view name) const {
    if (header_.e_shstrndx >= sections_.size()) return false;
    const Elf64_Shdr &table = sections_[header_.e_shstrndx];
    const std::string_view names = slice(table.sh_offset, table.sh_size);
    return std::ranges::any_of(sections_,
                               [&](const Elf64_Shdr &section) { return terminated(names, section.sh_name) == name; });
}

std::vector<ElfSymbol> ElfFile::symbols(std::uint32_t section_type) const {
    std::vector<ElfSymbol> result;
    const auto section = std::ranges::find(sections_, section_type, &Elf64_Shdr::sh_type);
    if (section == sections_.end() || section->sh_link >= sections_.size()) return result;
    const Elf64_Shdr &strings = sections_[section->sh_link];
    const std::string_view names = slice(strings.sh_offset, strings.sh_size);
    for (std::uint64_t place = 0; place + sizeof(Elf64_Sym) <= section->sh_size; place += sizeof(Elf64_Sym)) {
        const auto symbol = read<Elf64_Sym>(section->sh_offset + place);
        if (!symbol) break;
        const std::string_view name = terminated(names, symbol->st_name);
        if (name.empty()) continue;
        const unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);
        const bool global =
            ELF64_ST_BIND(symbol->st_info) != STB_LOCAL && (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
        result.push_back({name, symbol->st_shndx != SHN_UNDEF, global});
    }
    return result;
}

bool ElfFile::looks_like_text() const {
    const std::string_view start = file_.bytes().substr(0, kLongestLine);
    return !start.empty() && start.find('\0') == std::string_view::npos;
}

std::string_view ElfFile::script_line() const {
    std::string_view bytes = file_.bytes().substr(0, kLongestLine);
    if (!bytes.starts_with("#!")) return {};
    bytes.remove_prefix(2);
    return bytes.substr(0, bytes.find('\n'));
}

}  // namespace gr::tool
