// SPDX-License-Identifier: Apache-2.0 OR MIT
// Uses dl_iterate_phdr, which holds the loader's lock of the list of libraries. Allocates nothing of libc's.
#include "platform/world/modules.hpp"

#include <link.h>

#include "base/bits.hpp"

namespace gr::platform {

struct Modules::Visit {
    Modules *modules;
    void (*at_rest)(void *context);
    void *context;
    bool begun = false;
    bool complete = true;

    static int call(dl_phdr_info *info, std::size_t, void *self) {
        auto &visit = *static_cast<Visit *>(self);
        if (!visit.begun) visit.at_rest(visit.context);
        visit.begun = true;
        visit.add(*info);
        return 0;
    }

    void add(const dl_phdr_info &info) {
        const Range constant = relocated_only(info);
        if (!constant.is_empty()) complete = modules->constants_.add(constant) && complete;
        for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
            const auto &header = info.dlpi_phdr[i];
            if (header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0 && is_wanted(info, header))
                add_but(range_of(info, header), constant);
            if (header.p_type == PT_TLS && header.p_memsz != 0)
                complete = modules->thread_locals_.add({info.dlpi_tls_modid, header.p_memsz}) && complete;
        }
    }

    bool is_wanted(const dl_phdr_info &info, const ElfW(Phdr) & header) const {
        return modules->wants_ == nullptr || modules->wants_(info.dlpi_name, range_of(info, header));
    }

    void add_but(Range whole, Range constant) {
        if (!whole.contains(constant.begin) || constant.is_empty()) return add_some(whole);
        add_some({whole.begin, constant.begin});
        if (constant.end < whole.end) add_some({constant.end, whole.end});
    }
    void add_some(Range range) {
        if (!range.is_empty()) complete = modules->variables_.add(range) && complete;
    }

    static Range range_of(const dl_phdr_info &info, const ElfW(Phdr) & header) {
        const auto *const begin = reinterpret_cast<const char *>(info.dlpi_addr + header.p_vaddr);
        return {begin, begin + header.p_memsz};
    }
    // The loader protects only the whole pages of this part.
    static Range relocated_only(const dl_phdr_info &info) {
        for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
            if (info.dlpi_phdr[i].p_type != PT_GNU_RELRO) continue;
            const Range whole = range_of(info, info.dlpi_phdr[i]);
            const auto end = align_down(reinterpret_cast<std::uintptr_t>(whole.end), page_size());
            const auto *const protected_end = reinterpret_cast<const char *>(end);
            return {whole.begin, protected_end < whole.begin ? whole.begin : protected_end};
        }
        return {};
    }
};

bool Modules::learn(void (*at_rest)(void *context), void *context) {
    variables_.clear();
    constants_.clear();
    thread_locals_.clear();
    Visit visit{this, at_rest, context};
    dl_iterate_phdr(Visit::call, &visit);
    if (!visit.begun) at_rest(context);  // a static program without headers
    return visit.complete;
}

}  // namespace gr::platform
