// SPDX-License-Identifier: Apache-2.0 OR MIT
// The loader leaves the address of its list in the program's dynamic section (DT_DEBUG).
#include "platform/world/loaded_list.hpp"

namespace gr::platform {
namespace {

const r_debug *find_list(const dl_phdr_info &program) {
    for (unsigned i = 0; i < program.dlpi_phnum; ++i) {
        const auto &header = program.dlpi_phdr[i];
        if (header.p_type != PT_DYNAMIC) continue;
        const auto *entry = reinterpret_cast<const ElfW(Dyn) *>(program.dlpi_addr + header.p_vaddr);
        for (; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_DEBUG) return reinterpret_cast<const r_debug *>(entry->d_un.d_ptr);
        }
    }
    return nullptr;
}

std::uint64_t hash(const char *name) {
    constexpr std::uint64_t kBasis = 0xcbf29ce484222325;  // of FNV-1a
    constexpr std::uint64_t kPrime = 0x100000001b3;
    std::uint64_t sum = kBasis;
    for (; *name != '\0'; ++name) sum = (sum ^ static_cast<unsigned char>(*name)) * kPrime;
    return sum;
}

}  // namespace

LoadedList::Entry LoadedList::entry_of(const link_map &map) {
    return {
        .map = &map, .address = map.l_addr, .dynamic = map.l_ld, .name = map.l_name == nullptr ? 0 : hash(map.l_name)};
}

bool LoadedList::remember(const dl_phdr_info &program) {
    forget();
    list_ = find_list(program);
    if (list_ == nullptr) return false;
    for (const link_map *map = list_->r_map; map != nullptr; map = map->l_next) {
        if (entries_.add(entry_of(*map))) continue;
        forget();
        return false;
    }
    return !entries_.is_empty();
}

bool LoadedList::is_as_remembered() const {
    if (entries_.is_empty() || list_->r_state != r_debug::RT_CONSISTENT) return false;
    const link_map *map = list_->r_map;
    for (const Entry &known : entries_.all()) {
        if (map == nullptr || entry_of(*map) != known) return false;
        map = map->l_next;
    }
    return map == nullptr;
}

}  // namespace gr::platform
