// SPDX-License-Identifier: Apache-2.0 OR MIT
// Uses dl_iterate_phdr, which holds the loader's lock of the list of libraries. Allocates nothing of libc's.
#include "platform/world/modules.hpp"

#include <link.h>

#include "base/bits.hpp"

namespace gr::platform {
namespace {

constexpr unsigned kMostWait = 10;  // milliseconds, for the loader's lock

}  // namespace

struct Modules::Visit {
    Modules *modules;
    bool (*at_rest)(void *context);
    void *context;
    bool begun = false;
    bool is_at_rest = false;
    bool is_known = false;  // that the loader's list is this one
    bool complete = true;

    static int call(dl_phdr_info *info, std::size_t, void *self) {
        auto &visit = *static_cast<Visit *>(self);
        if (!visit.begun) visit.begin(info);
        if (!visit.is_at_rest) return 1;
        visit.add(*info);
        return 0;
    }

    // nullptr: a static program without headers.
    void begin(const dl_phdr_info *program) {
        begun = true;
        is_at_rest = at_rest(context);
        is_known = is_at_rest && program != nullptr && modules->list_.remember(*program);
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

void Modules::initialise() {
    locks_.initialise();
    static_cast<void>(learn([](void *) { return true; }, nullptr));
}

bool Modules::learn(bool (*at_rest)(void *context), void *context) {
    if (!locks_.hold_list(kMostWait)) return at_rest(context) && list_.is_as_remembered();
    Visit visit{this, at_rest, context};
    const bool complete = list(&visit);
    if (!complete || !visit.is_known) list_.forget();
    locks_.let_list_go();
    return complete;
}

// false: not all, or nothing.
bool Modules::list(Visit *visit) {
    variables_.clear();
    constants_.clear();
    thread_locals_.clear();
    dl_iterate_phdr(Visit::call, visit);
    if (!visit->begun) visit->begin(nullptr);
    return visit->is_at_rest && visit->complete;
}

}  // namespace gr::platform
