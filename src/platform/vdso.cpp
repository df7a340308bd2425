// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "platform/vdso.hpp"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gr::platform {
namespace {

struct Names {
    const ElfW(Sym) *symbols = nullptr;
    const char *texts = nullptr;
};

// Addresses in the image count from its beginning.
Names names_in(std::uintptr_t image) {
    const auto *const header = reinterpret_cast<const ElfW(Ehdr) *>(image);
    const auto *const parts = reinterpret_cast<const ElfW(Phdr) *>(image + header->e_phoff);
    const ElfW(Dyn) *entry = nullptr;
    for (unsigned i = 0; i < header->e_phnum; ++i) {
        if (parts[i].p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn) *>(image + parts[i].p_offset);
    }
    Names names;
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        const std::uintptr_t address = image + entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB) names.symbols = reinterpret_cast<const ElfW(Sym) *>(address);
        if (entry->d_tag == DT_STRTAB) names.texts = reinterpret_cast<const char *>(address);
    }
    return names;
}

}  // namespace

// The image does not say how many symbols it has. The linker puts their names behind them.
void *vdso_function(const char *name) {
    const int errno_before = errno;  // getauxval changes it where an emulator has no such image
    const std::uintptr_t image = getauxval(AT_SYSINFO_EHDR);
    errno = errno_before;
    if (image == 0) return nullptr;
    const Names names = names_in(image);
    const auto *const end = reinterpret_cast<const ElfW(Sym) *>(names.texts);
    for (const ElfW(Sym) *symbol = names.symbols; symbol != nullptr && symbol + 1 <= end; ++symbol) {
        if (symbol->st_shndx != SHN_UNDEF && std::strcmp(names.texts + symbol->st_name, name) == 0)
            return reinterpret_cast<void *>(image + symbol->st_value);
    }
    return nullptr;
}

}  // namespace gr::platform
