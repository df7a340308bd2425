// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/attach/process_modules.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace gr::tool {

namespace {

constexpr std::uint64_t kMostSegments = 256;
constexpr std::uint64_t kMostEntries = 512;  // of a dynamic section

// The kernel says of a file that was removed or replaced that it is deleted.
std::string name_of_file(std::string path) {
    constexpr std::string_view kDeleted = " (deleted)";
    if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
    return path.substr(path.rfind('/') + 1);
}

std::uint32_t gnu_hash(std::string_view name) {
    std::uint32_t hash = 5381;
    for (const char each : name) hash = hash * 33 + static_cast<unsigned char>(each);
    return hash;
}

}  // namespace

ProcessModules::ProcessModules(const ProcessMemory &memory) : memory_(memory) {
    std::ifstream file(fmt::format("/proc/{}/maps", memory.process()));
    for (std::string line; std::getline(file, line);) {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::uint64_t offset = 0;
        std::array<char, 5> rights{};
        int path = 0;
        const int fields =
            std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*x:%*x %*u %n", &begin, &end, rights.data(), &offset, &path);
        if (fields != 4 || path == 0) continue;
        const std::string name = line.substr(static_cast<std::size_t>(path));
        others_.emplace_back(name, begin);
        if (!name.starts_with('/')) continue;
        if (offset == 0 && (modules_.empty() || modules_.back().path != name))
            modules_.push_back({name, name_of_file(name), begin, {}});
        if (rights[2] == 'x' && !modules_.empty() && modules_.back().path == name)
            modules_.back().code.push_back({begin, end});
    }
    if (others_.empty()) fail_ended(memory.process());
}

const ProcessModule *ProcessModules::named(std::string_view name) const {
    const auto at = std::ranges::find(modules_, name, &ProcessModule::name);
    return at == modules_.end() ? nullptr : &*at;
}

const ProcessModule *ProcessModules::at(std::uint64_t address) const {
    for (const ProcessModule &module : modules_) {
        if (std::ranges::any_of(
                module.code, [&](const CodeRange &range) { return address - range.begin < range.end - range.begin; }))
            return &module;
    }
    return nullptr;
}

std::optional<std::uint64_t> ProcessModules::mapping_named(std::string_view name) const {
    const auto at =
        std::ranges::find_if(others_, [&](const auto &each) { return each.first.find(name) != std::string::npos; });
    return at == others_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<ProcessModules::Tables> ProcessModules::tables_of(const ProcessModule &module) const {
    Elf64_Ehdr header{};
    if (!read(module.begin, &header) || header.e_phnum > kMostSegments) return std::nullopt;
    Tables tables;
    std::uint64_t dynamic = 0;
    std::uint64_t lowest = UINT64_MAX;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        if (!read(module.begin + header.e_phoff + i * sizeof segment, &segment)) return std::nullopt;
        if (segment.p_type == PT_LOAD)
            lowest = std::min(lowest, segment.p_vaddr / ProcessMemory::page_bytes() * ProcessMemory::page_bytes());
        if (segment.p_type == PT_DYNAMIC) dynamic = segment.p_vaddr;
    }
    if (dynamic == 0) return std::nullopt;
    tables.base = module.begin - lowest;
    for (unsigned i = 0; i < kMostEntries; ++i) {
        Elf64_Dyn entry{};
        if (!read(tables.base + dynamic + i * sizeof entry, &entry) || entry.d_tag == DT_NULL) break;
        // glibc's loader turns these into addresses.
        const std::uint64_t address =
            entry.d_un.d_ptr < tables.base ? tables.base + entry.d_un.d_ptr : entry.d_un.d_ptr;
        if (entry.d_tag == DT_SYMTAB) tables.symbols = address;
        if (entry.d_tag == DT_STRTAB) tables.strings = address;
        if (entry.d_tag == DT_GNU_HASH) tables.hash = address;
    }
    if (tables.symbols == 0 || tables.strings == 0 || tables.hash == 0) return std::nullopt;
    return tables;
}

bool ProcessModules::is_named(std::uint64_t address, std::string_view name) const {
    std::string text(name.size() + 1, 'x');
    return memory_.read(address, text.data(), text.size()) && text.back() == '\0' && text.starts_with(name);
}

// The table: four counts, a filter, buckets, and chains whose last word is odd.
std::optional<std::uint64_t> ProcessModules::function(const ProcessModule &module, const char *name) const {
    const std::optional<Tables> tables = tables_of(module);
    std::array<std::uint32_t, 4> counts{};
    if (!tables || !read(tables->hash, &counts) || counts[0] == 0) return std::nullopt;
    const auto [bucket_count, first, filter_words, shift] = counts;
    const std::uint64_t buckets = tables->hash + sizeof counts + filter_words * sizeof(std::uint64_t);
    const std::uint64_t chains = buckets + bucket_count * sizeof(std::uint32_t);
    const std::uint32_t wanted = gnu_hash(name);
    std::uint32_t at = 0;
    if (!read(buckets + wanted % bucket_count * sizeof at, &at) || at < first) return std::nullopt;
    for (;; ++at) {
        std::uint32_t each = 0;
        Elf64_Sym symbol{};
        if (!read(chains + (at - first) * sizeof each, &each)) return std::nullopt;
        if ((each | 1) == (wanted | 1) && read(tables->symbols + at * sizeof symbol, &symbol) &&
            symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
            is_named(tables->strings + symbol.st_name, name))
            return tables->base + symbol.st_value;
        if ((each & 1) != 0) return std::nullopt;
    }
}

std::optional<std::uint64_t> ProcessModules::find_code(const ProcessModule &module, std::string_view bytes) const {
    constexpr std::uint64_t kPiece = 64 << 10;
    std::string piece;
    for (const CodeRange &range : module.code) {
        for (std::uint64_t from = range.begin; from < range.end; from += kPiece) {
            piece.resize(std::min(kPiece + bytes.size(), range.end - from));
            if (!memory_.read(from, piece.data(), piece.size())) break;
            if (const std::size_t at = piece.find(bytes); at != std::string::npos) return from + at;
        }
    }
    return std::nullopt;
}

}  // namespace gr::tool
