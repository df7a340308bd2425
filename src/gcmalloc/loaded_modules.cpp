// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gcmalloc/loaded_modules.hpp"

#include <unistd.h>

#include <cstring>

#include "base/bits.hpp"
#include "base/text.hpp"
#include "platform/memory.hpp"

namespace gr {
namespace {

void put_build_id(Text &text, const dl_phdr_info &info) {
    constexpr char kOwner[] = "GNU";
    bool found = false;
    for (unsigned i = 0; i < info.dlpi_phnum && !found; ++i) {
        const ElfW(Phdr) &header = info.dlpi_phdr[i];
        if (header.p_type != PT_NOTE) continue;
        const auto *at = reinterpret_cast<const char *>(info.dlpi_addr + header.p_vaddr);
        for (const char *const end = at + header.p_memsz; at + sizeof(ElfW(Nhdr)) < end && !found;) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const char *const name = at + sizeof note;
            const char *const id = name + align_up(std::size_t{note.n_namesz}, header.p_align);
            at = id + align_up(std::size_t{note.n_descsz}, header.p_align);
            found = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof kOwner &&
                    std::memcmp(name, kOwner, sizeof kOwner) == 0;
            for (std::size_t byte = 0; found && byte < note.n_descsz; ++byte) {
                const auto bits = static_cast<unsigned char>(id[byte]);
                text << "0123456789abcdef"[bits >> 4] << "0123456789abcdef"[bits & 15];
            }
        }
    }
    if (!found) text << '-';
}

// The program itself has no name for the loader.
void put_path(char (&path)[LoadedModule::kPathBytes], const char *name) {
    if (*name == '\0') {
        const ssize_t bytes = readlink("/proc/self/exe", &path[0], sizeof path - 1);
        path[bytes < 0 ? 0 : bytes] = '\0';
        return;
    }
    Text text(&path[0], sizeof path - 1);
    text << name;
    path[text.size()] = '\0';
}

int count_one(dl_phdr_info *, std::size_t, void *to) {
    ++*static_cast<std::size_t *>(to);
    return 0;
}

struct Search {
    const LoadedModule *wanted;
    bool is_found;
};

// The loader's name of a file is what its path was copied from.
int compare(dl_phdr_info *info, std::size_t, void *to) {
    Search &search = *static_cast<Search *>(to);
    search.is_found = info->dlpi_addr == search.wanted->base &&
                      (*info->dlpi_name == '\0' || std::strcmp(info->dlpi_name, &search.wanted->path[0]) == 0);
    return search.is_found ? 1 : 0;
}

}  // namespace

void LoadedModule::describe(const dl_phdr_info &info, LoadedModule *module) {
    module->base = info.dlpi_addr;
    module->begin = UINTPTR_MAX;
    module->end = 0;
    for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr) &header = info.dlpi_phdr[i];
        if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
        const std::uintptr_t at = info.dlpi_addr + header.p_vaddr;
        module->begin = at < module->begin ? at : module->begin;
        module->end = at + header.p_memsz > module->end ? at + header.p_memsz : module->end;
    }
    if (module->end == 0) module->begin = 0;
    Text build_id(&module->build_id[0], sizeof module->build_id - 1);
    put_build_id(build_id, info);
    module->build_id[build_id.size()] = '\0';
    put_path(module->path, info.dlpi_name);
}

bool LoadedModule::is(const LoadedModule &other) const {
    return base == other.base && begin == other.begin && end == other.end &&
           std::strcmp(&build_id[0], &other.build_id[0]) == 0 && std::strcmp(&path[0], &other.path[0]) == 0;
}

LoadedModules::~LoadedModules() {
    if (modules_ != nullptr) platform::unmap(modules_, most_ * sizeof *modules_);
}

// A library that is loaded by another thread between the two passes is left out: nothing was allocated by it yet.
void LoadedModules::list() {
    dl_iterate_phdr(count_one, &most_);
    unloads_ = unloads_now();
    modules_ = static_cast<LoadedModule *>(platform::map(most_ * sizeof *modules_, 1));
    if (modules_ != nullptr) dl_iterate_phdr(add, this);
}

int LoadedModules::add(dl_phdr_info *info, std::size_t, void *to) {
    auto &modules = *static_cast<LoadedModules *>(to);
    if (modules.count_ == modules.most_) return 1;
    LoadedModule::describe(*info, modules.modules_ + modules.count_++);
    return 0;
}

unsigned long long LoadedModules::unloads_now() {
    unsigned long long unloads = 0;
    const auto take = [](dl_phdr_info *info, std::size_t, void *to) {
        *static_cast<unsigned long long *>(to) = info->dlpi_subs;
        return 1;  // the count is the same for each file
    };
    dl_iterate_phdr(take, &unloads);
    return unloads;
}

bool LoadedModules::is_loaded(const LoadedModule &module) {
    Search search{&module, false};
    dl_iterate_phdr(compare, &search);
    return search.is_found;
}

}  // namespace gr
