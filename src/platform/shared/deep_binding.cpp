// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: deep_binding.hpp, by the values in libc's table of dynamic symbols, from which the loader computes addresses.
// Invariant: the table stays readable throughout, each value changes at once, and it is never writable and executable
//    at the same time.
// Must not know: which names, and whether it should be done.
#include "platform/shared/deep_binding.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "base/bits.hpp"
#include "platform/loader.hpp"
#include "platform/memory.hpp"
#include "platform/mutex.hpp"
#include "platform/syscall.hpp"

namespace gr::platform {
namespace {

#ifdef RTLD_DEEPBIND
constexpr int kDeep = RTLD_DEEPBIND;
#else
constexpr int kDeep = 0;
#endif
#ifdef LM_ID_BASE
constexpr long kOwnNamespace = LM_ID_BASE;
#else
constexpr long kOwnNamespace = 0;
#endif

constexpr const char *kLibc = "libc.so.6";  // glibc's name; another libc has no deep binding

struct Library {
    std::uintptr_t base = 0;
    ElfW(Sym) *symbols = nullptr;
    const char *strings = nullptr;
    const std::uint32_t *hash = nullptr;  // of the GNU kind
    bool is_read_only = false;            // the table of symbols lies where nothing is executed or written
};

struct Change {
    ElfW(Sym) * symbol;
    ElfW(Addr) value;
};
struct Changes {
    static constexpr std::size_t kMost = 64;
    std::size_t count = 0;
    Change list[kMost];
};

// While one thread has made the table writable, another thread must not make it read-only. Fork does not wait for this
// lock: a child that is forked while another thread opens a library has a loader that cannot be used anyway.
Mutex table_lock;
std::atomic<bool> are_led{false};  // release: pairs with the acquire of threads that then need not look

// glibc's loader turns these into addresses; another loader may leave offsets.
std::uintptr_t address_in(const Library &library, ElfW(Addr) value) {
    return value < library.base ? library.base + value : value;
}

void read_dynamic(const ElfW(Dyn) * entry, Library *library, ElfW(Addr) * name) {
    for (; entry->d_tag != DT_NULL; ++entry) {
        const std::uintptr_t address = address_in(*library, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SONAME) *name = entry->d_un.d_val;
        if (entry->d_tag == DT_STRTAB) library->strings = reinterpret_cast<const char *>(address);
        if (entry->d_tag == DT_SYMTAB) library->symbols = reinterpret_cast<ElfW(Sym) *>(address);
        if (entry->d_tag == DT_GNU_HASH) library->hash = reinterpret_cast<const std::uint32_t *>(address);
    }
}

// Called by dl_iterate_phdr, which goes on until libc is found.
int look_for_libc(dl_phdr_info *info, std::size_t, void *out) {
    Library found;
    found.base = info->dlpi_addr;
    ElfW(Addr) name = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        if (part.p_type != PT_DYNAMIC) continue;
        read_dynamic(reinterpret_cast<const ElfW(Dyn) *>(found.base + part.p_vaddr), &found, &name);
    }
    if (name == 0 || found.strings == nullptr || std::strcmp(found.strings + name, kLibc) != 0) return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(found.symbols) - found.base - part.p_vaddr;
        if (part.p_type == PT_LOAD && offset < part.p_memsz) found.is_read_only = part.p_flags == PF_R;
    }
    *static_cast<Library *>(out) = found;
    return 1;
}

std::uint32_t hash_of(const char *name) {
    std::uint32_t hash = 5381;
    for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
    return hash;
}

// Visits every version that the library defines under this name. The hash table has four numbers, a filter of words,
// the first symbol of each bucket, and for each symbol its hash, whose lowest bit ends the bucket.
template <class Visit>
void for_each_symbol(const Library &library, const char *name, Visit visit) {
    const std::uint32_t buckets = library.hash[0];
    const std::uint32_t first = library.hash[1];
    const std::uint32_t filter_words = library.hash[2];
    const std::uint32_t *const bucket = library.hash + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    const std::uint32_t *const chain = bucket + buckets;
    const std::uint32_t wanted = hash_of(name);
    std::uint32_t i = buckets == 0 ? 0 : bucket[wanted % buckets];
    if (i < first) return;
    for (bool last = false; !last; ++i) {
        const std::uint32_t hash = chain[i - first];
        last = (hash & 1) != 0;
        ElfW(Sym) *const symbol = library.symbols + i;
        if ((hash | 1) == (wanted | 1) && std::strcmp(library.strings + symbol->st_name, name) == 0) visit(symbol);
    }
}

// false: there are more symbols to change than fit.
bool collect(const Library &libc, const char *name, Changes *changes) {
    const auto target = reinterpret_cast<std::uintptr_t>(program_symbol(name));
    if (target == 0) return true;
    bool fits = true;
    for_each_symbol(libc, name, [&](ElfW(Sym) * symbol) {
        const bool is_function = (symbol->st_info & 0xF) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
        const ElfW(Addr) value = target - libc.base;
        if (!is_function || symbol->st_value == value) return;
        fits = fits && changes->count < Changes::kMost;
        if (fits) changes->list[changes->count++] = {symbol, value};
    });
    return fits;
}

// Must not call the loader: a thread that opens a library holds the loader's lock and may wait for table_lock.
bool apply(const Changes &changes) {
    auto first = reinterpret_cast<std::uintptr_t>(changes.list[0].symbol);
    std::uintptr_t last = first;
    for (std::size_t i = 1; i < changes.count; ++i) {
        const auto place = reinterpret_cast<std::uintptr_t>(changes.list[i].symbol);
        first = place < first ? place : first;
        last = place > last ? place : last;
    }
    const std::uintptr_t start = first & ~(page_size() - 1);
    const std::size_t bytes = align_up(last + sizeof(ElfW(Sym)) - start, page_size());
    const Guard guard(table_lock, Rank::loader);
    if (!guard.locked()) return false;
    if (system_call(SYS_mprotect, start, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    for (std::size_t i = 0; i < changes.count; ++i) {
        // relaxed: a thread that binds a symbol meanwhile gets the old value or the new one.
        __atomic_store_n(&changes.list[i].symbol->st_value, changes.list[i].value, __ATOMIC_RELAXED);
    }
    // If this is refused, the table stays writable, and everything works.
    system_call(SYS_mprotect, start, bytes, PROT_READ);
    return true;
}

}  // namespace

bool binds_deeply(int flags) { return (flags & kDeep) != 0; }
int without_deep_binding(int flags) { return flags & ~kDeep; }
bool is_own_namespace(long space) { return space == kOwnNamespace; }

bool lead_libc_to_program(const char *const *names) {
    if (are_led.load(std::memory_order_acquire)) return true;
    Library libc;
    if (dl_iterate_phdr(look_for_libc, &libc) == 0 || libc.hash == nullptr || !libc.is_read_only) return false;
    Changes changes;
    for (; *names != nullptr; ++names) {
        if (!collect(libc, *names, &changes)) return false;
    }
    if (changes.count != 0 && !apply(changes)) return false;
    are_led.store(true, std::memory_order_release);
    return true;
}

}  // namespace gr::platform
