// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: handles RTLD_DEEPBIND, with which a library would get libc's malloc while the program has this one.
// Invariant: it acts only where this library is the process's malloc, and before the opened library runs or binds
//    anything.
// Must not know: how libc's names are made to lead elsewhere, and how dlopen is entered and left.
#include "base/text.hpp"
#include "malloc/c_api.hpp"
#include "malloc/sampled.hpp"
#include "platform/loader.hpp"
#include "platform/process.hpp"
#include "platform/shared/deep_binding.hpp"

namespace {

// The names of libc's malloc family that this library exports.
constexpr const char *kFamily[] = {"malloc",
                                   "calloc",
                                   "realloc",
                                   "free",
                                   "reallocarray",
                                   "memalign",
                                   "aligned_alloc",
                                   "posix_memalign",
                                   "valloc",
                                   "pvalloc",
                                   "cfree",
                                   "malloc_usable_size",
                                   "free_sized",
                                   "free_aligned_sized",
                                   "mallinfo",
                                   "mallinfo2",
                                   "malloc_info",
                                   "malloc_stats",
                                   "malloc_trim",
                                   "mallopt",
                                   "__libc_malloc",
                                   "__libc_calloc",
                                   "__libc_realloc",
                                   "__libc_free",
                                   "__libc_memalign",
                                   "__libc_valloc",
                                   "__libc_pvalloc",
                                   "__posix_memalign",
                                   nullptr};

// In two registers, as the assembly expects it.
struct Onward {
    void *function;
    long flags;
};

// Used where there is no dlopen behind this one.
void *open_nothing(const char *, int) { return nullptr; }
void *open_nothing_there(long, const char *, int) { return nullptr; }

// Looks at a block, not at the address of a name. The address may be the program's entry for the name, or a function of
// another library that leads here.
bool is_malloc_of_process() {
    const auto allocate = reinterpret_cast<void *(*)(std::size_t)>(gr::platform::program_symbol("malloc"));
    const auto release = reinterpret_cast<void (*)(void *)>(gr::platform::program_symbol("free"));
    if (allocate == nullptr || release == nullptr) return false;
    void *const block = allocate(1);
    const bool is_ours = block != nullptr && gr::instance_of(block).owns(block);
    release(block);
    return is_ours;
}

void say(const char *file, const char *what) {
    if (gr::load_option(gr::instance.options().verbose) == 0) return;
    gr::TextBuffer<512> line;
    line << "granary: RTLD_DEEPBIND of ";
    for (const char *c = file == nullptr ? "the program" : file; *c != '\0' && line.size() < 300; ++c) {
        line << (*c == '\n' || *c == '\r' ? '?' : *c);  // it stays one line
    }
    line << ": " << what << '\n';
    gr::platform::write_all(2, line.data(), line.size());
}

int flags_for(const char *file, int flags) {
    if (!gr::platform::binds_deeply(flags)) return flags;
    gr::instance.ensure_started();
    const auto wanted = static_cast<gr::DeepBinding>(gr::instance.options().deep_binding);
    if (wanted == gr::DeepBinding::keep || !is_malloc_of_process()) return flags;
    if (wanted == gr::DeepBinding::mend && gr::platform::lead_libc_to_program(kFamily)) {
        say(file, "the library gets this malloc, all other symbols as asked (GRANARY_DEEPBIND)");
        return flags;
    }
    say(file, "the flag is removed, so that the library gets this malloc (GRANARY_DEEPBIND)");
    return gr::platform::without_deep_binding(flags);
}

// The new code may lie where other code lay before, so what is known of the old code is forgotten.
void before_code_comes() {
    if (gr::sampled.is_on()) gr::sampled.profile().forget_code();
}

}  // namespace

extern "C" {

Onward gr_before_dlopen(const char *file, int flags) {
    before_code_comes();
    void *const next = gr::platform::next_symbol("dlopen");
    return {next == nullptr ? reinterpret_cast<void *>(open_nothing) : next, flags_for(file, flags)};
}

// Another namespace has a libc of its own, and blocks do not leave it by accident.
Onward gr_before_dlmopen(long space, const char *file, int flags) {
    before_code_comes();
    void *const next = gr::platform::next_symbol("dlmopen");
    if (next == nullptr) return {reinterpret_cast<void *>(open_nothing_there), flags};
    return {next, gr::platform::is_own_namespace(space) ? flags_for(file, flags) : flags};
}

}  // extern "C"
