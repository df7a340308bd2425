// SPDX-License-Identifier: Apache-2.0 OR MIT
// Uses dl_iterate_phdr, whose callback runs under the lock of the loader's list.
#include "platform/ipc/bound_words.hpp"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "platform/memory.hpp"
#include "platform/syscall.hpp"

namespace gr::platform {
namespace {

#if defined(__x86_64__)
constexpr unsigned kCallWord = R_X86_64_JUMP_SLOT;
constexpr unsigned kTableWord = R_X86_64_GLOB_DAT;
constexpr unsigned kDataWord = R_X86_64_64;
#else
constexpr unsigned kCallWord = R_AARCH64_JUMP_SLOT;
constexpr unsigned kTableWord = R_AARCH64_GLOB_DAT;
constexpr unsigned kDataWord = R_AARCH64_ABS64;
#endif
constexpr ElfW(Half) kHidden = 0x8000;  // of a symbol's version: not the default one

struct Module {
    std::uintptr_t base = 0;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    const ElfW(Dyn) *dynamic = nullptr;
    const ElfW(Sym) *symbols = nullptr;
    const char *strings = nullptr;
    const std::uint32_t *hash = nullptr;  // of the GNU kind
    const ElfW(Half) *versions = nullptr;
    std::span<const ElfW(Rela)> calls;
    std::span<const ElfW(Rela)> words;

    explicit Module(const dl_phdr_info &info);
    bool has_symbols() const { return symbols != nullptr && strings != nullptr; }
    bool is(const LoadedObject &object) const { return object.contains(dynamic); }
    bool contains(std::uintptr_t address) const { return address - begin < end - begin; }
    const char *name_of(const ElfW(Sym) & symbol) const { return strings + symbol.st_name; }
    const ElfW(Sym) * find(const char *name) const;

  private:
    void read_segments(const dl_phdr_info &info);
    void read_dynamic();
};

Module::Module(const dl_phdr_info &info) : base(info.dlpi_addr) {
    read_segments(info);
    if (dynamic != nullptr) read_dynamic();
}

void Module::read_segments(const dl_phdr_info &info) {
    begin = UINTPTR_MAX;
    for (const ElfW(Phdr) & segment : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
        const std::uintptr_t at = base + segment.p_vaddr;
        if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn) *>(at);
        if (segment.p_type != PT_LOAD) continue;
        begin = at < begin ? at : begin;
        end = at + segment.p_memsz > end ? at + segment.p_memsz : end;
    }
}

void Module::read_dynamic() {
    std::size_t call_bytes = 0;
    std::size_t word_bytes = 0;
    const ElfW(Rela) *first_call = nullptr;
    const ElfW(Rela) *first_word = nullptr;
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
        // glibc's loader turns these into addresses, except in modules that it leaves read-only.
        const ElfW(Addr) value = entry->d_un.d_ptr;
        const std::uintptr_t address = value < base ? base + value : value;
        switch (entry->d_tag) {
            case DT_SYMTAB:
                symbols = reinterpret_cast<const ElfW(Sym) *>(address);
                break;
            case DT_STRTAB:
                strings = reinterpret_cast<const char *>(address);
                break;
            case DT_GNU_HASH:
                hash = reinterpret_cast<const std::uint32_t *>(address);
                break;
            case DT_VERSYM:
                versions = reinterpret_cast<const ElfW(Half) *>(address);
                break;
            case DT_JMPREL:
                first_call = reinterpret_cast<const ElfW(Rela) *>(address);
                break;
            case DT_RELA:
                first_word = reinterpret_cast<const ElfW(Rela) *>(address);
                break;
            case DT_PLTRELSZ:
                call_bytes = entry->d_un.d_val;
                break;
            case DT_RELASZ:
                word_bytes = entry->d_un.d_val;
                break;
            default:
                break;
        }
    }
    if (first_call != nullptr) calls = {first_call, call_bytes / sizeof *first_call};
    if (first_word != nullptr) words = {first_word, word_bytes / sizeof *first_word};
}

std::uint32_t gnu_hash(const char *name) {
    std::uint32_t hash = 5381;
    for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
    return hash;
}

// The default version of a defined symbol. The table: counts, a filter, buckets, and chains whose last word is odd.
const ElfW(Sym) * Module::find(const char *name) const {
    if (hash == nullptr || !has_symbols() || hash[0] == 0) return nullptr;
    const std::uint32_t bucket_count = hash[0];
    const std::uint32_t first = hash[1];
    const std::uint32_t *const buckets = hash + 4 + hash[2] * (sizeof(std::uintptr_t) / sizeof *hash);
    const std::uint32_t wanted = gnu_hash(name);
    std::uint32_t at = buckets[wanted % bucket_count];
    if (at < first) return nullptr;
    for (const std::uint32_t *const chains = buckets + bucket_count;; ++at) {
        const std::uint32_t each = chains[at - first];
        const bool is_default = versions == nullptr || (versions[at] & kHidden) == 0;
        if ((each | 1) == (wanted | 1) && is_default && symbols[at].st_shndx != SHN_UNDEF &&
            std::strcmp(name_of(symbols[at]), name) == 0)
            return &symbols[at];
        if ((each & 1) != 0) return nullptr;
    }
}

void *function_at(const Module &module, const ElfW(Sym) & symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) return nullptr;
    return reinterpret_cast<void *>(module.base + symbol.st_value);
}

struct Search {
    const char *name;
    const LoadedObject *left_out;
    Definition found;
};

// The address in a program at a fixed address that stands for a function elsewhere.
void *stand_in_of(const Module &program, const char *name) {
    for (const ElfW(Rela) & call : program.calls) {
        const ElfW(Sym) &symbol = program.symbols[ELF64_R_SYM(call.r_info)];
        if (symbol.st_shndx == SHN_UNDEF && symbol.st_value != 0 && std::strcmp(program.name_of(symbol), name) == 0)
            return reinterpret_cast<void *>(program.base + symbol.st_value);
    }
    return nullptr;
}

int look_for_definition(dl_phdr_info *info, std::size_t, void *out) {
    Search &search = *static_cast<Search *>(out);
    const Module module(*info);
    if (!module.has_symbols() || module.is(*search.left_out)) return 0;
    const bool is_program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
    if (is_program) search.found.stand_in = stand_in_of(module, search.name);
    const ElfW(Sym) *const symbol = module.find(search.name);
    if (symbol == nullptr) return 0;
    search.found.function = function_at(module, *symbol);
    return 1;
}

struct OneModule {
    const LoadedObject *module;
    const char *name;
    void *found;
};

int look_in_one(dl_phdr_info *info, std::size_t, void *out) {
    OneModule &search = *static_cast<OneModule *>(out);
    const Module module(*info);
    if (!module.is(*search.module)) return 0;
    if (const ElfW(Sym) *const symbol = module.find(search.name)) search.found = function_at(module, *symbol);
    return 1;
}

// The kernel adds 0 to the word, or says that it may not be written to. So a module that another thread is loading,
// whose pages the loader has yet to make read-only, is not made read-only too early.
bool is_writable(std::uintptr_t *word) {
    std::uint32_t other = 0;
    constexpr unsigned kAdd = static_cast<unsigned>(FUTEX_OP_ADD) << 28;
    return system_call(SYS_futex, &other, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0L, word, kAdd) >= 0;
}

void change(std::uintptr_t *word, void *to) {
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(word) & ~(page_size() - 1);
    auto *const begin = reinterpret_cast<void *>(page);
    const bool was_writable = is_writable(word);
    if (!was_writable && system_call(SYS_mprotect, begin, page_size(), PROT_READ | PROT_WRITE) != 0) return;
    std::atomic_ref(*word).store(reinterpret_cast<std::uintptr_t>(to), std::memory_order_release);
    if (!was_writable) system_call(SYS_mprotect, begin, page_size(), PROT_READ);
}

struct Changes {
    std::span<const Rebinding> rebindings;
    const LoadedObject *own;
    bool (*is_wanted)();
};

bool leads_to(const Module &module, const ElfW(Rela) & relocation, std::uintptr_t value, const Rebinding &rebinding) {
    const auto from = reinterpret_cast<std::uintptr_t>(rebinding.from);
    if (value == from) return true;
    if (value == 0) return false;
    if (value == reinterpret_cast<std::uintptr_t>(rebinding.stand_in)) return true;
    return rebinding.also_unfilled && ELF64_R_TYPE(relocation.r_info) == kCallWord && module.contains(value);
}

void change_if_bound(const Module &module, const ElfW(Rela) & relocation, std::span<const Rebinding> rebindings) {
    const ElfW(Sym) &symbol = module.symbols[ELF64_R_SYM(relocation.r_info)];
    const char *const name = module.name_of(symbol);
    auto *const word = reinterpret_cast<std::uintptr_t *>(module.base + relocation.r_offset);
    for (const Rebinding &each : rebindings) {
        if (each.name[0] != name[0] || std::strcmp(each.name, name) != 0) continue;
        if (each.left_alone != nullptr && module.is(*each.left_alone)) return;
        const std::uintptr_t value = std::atomic_ref(*word).load(std::memory_order_relaxed);
        if (leads_to(module, relocation, value, each)) change(word, each.to);
        return;
    }
}

bool names_function(const ElfW(Rela) & relocation) {
    const unsigned type = ELF64_R_TYPE(relocation.r_info);
    if (ELF64_R_SYM(relocation.r_info) == 0) return false;
    return type == kCallWord || type == kTableWord || (type == kDataWord && relocation.r_addend == 0);
}

int change_module(dl_phdr_info *info, std::size_t, void *out) {
    const Changes &changes = *static_cast<const Changes *>(out);
    if (!changes.is_wanted()) return 1;
    const Module module(*info);
    if (!module.has_symbols() || module.is(*changes.own)) return 0;
    for (const std::span<const ElfW(Rela)> list : {module.calls, module.words}) {
        for (const ElfW(Rela) & relocation : list) {
            if (names_function(relocation)) change_if_bound(module, relocation, changes.rebindings);
        }
    }
    return 0;
}

}  // namespace

Definition definition_of(const char *name, const LoadedObject &left_out) {
    Search search{name, &left_out, {}};
    dl_iterate_phdr(&look_for_definition, &search);
    return search.found;
}

void *definition_in(const LoadedObject &module, const char *name) {
    OneModule search{&module, name, nullptr};
    dl_iterate_phdr(&look_in_one, &search);
    return search.found;
}

void rebind(std::span<const Rebinding> rebindings, const LoadedObject &own, bool (*is_wanted)()) {
    Changes changes{rebindings, &own, is_wanted};
    dl_iterate_phdr(&change_module, &changes);
}

}  // namespace gr::platform
