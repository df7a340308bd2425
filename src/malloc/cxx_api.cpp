// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: C++'s operators new and delete, except the fast path of new and the two deletes that are free (assembly file).
// Invariant: each form calls the form that the standard names, which may be the program's own. Without memory, the
//    new_handler is called until there is none. Then the program's own C++ runtime throws std::bad_alloc; this library
//    needs no runtime.
// Must not know: how blocks are found.
#include <new>

#include "base/bits.hpp"
#include "base/text.hpp"
#include "malloc/c_api.hpp"
#include "malloc/sampled.hpp"
#include "platform/loader.hpp"
#include "platform/process.hpp"

// The runtime's symbols, if the program has a runtime at its start. Without a runtime there is nothing to catch.
asm(".weak __gxx_personality_v0, __cxa_begin_catch, __cxa_end_catch, _ZSt9terminatev");
extern "C" {
[[gnu::weak]] std::new_handler _ZSt15get_new_handlerv();
[[gnu::weak]] void _ZSt17__throw_bad_allocv();
}

namespace {

// A program in C may have loaded a library in C++ after its start, and the runtime with it.
template <class Function>
Function *of_runtime(Function *at_start, const char *name) {
    if (at_start != nullptr) return at_start;
    for (const char *const library : {"libstdc++.so.6", "libc++.so.1"}) {
        if (void *const found = gr::platform::loaded_symbol(name, library)) return reinterpret_cast<Function *>(found);
    }
    return nullptr;
}

[[noreturn]] void out_of_memory(std::size_t size) {
    auto *const throw_bad_alloc = of_runtime(&_ZSt17__throw_bad_allocv, "_ZSt17__throw_bad_allocv");
    if (throw_bad_alloc != nullptr) throw_bad_alloc();
    gr::TextBuffer<256> line;
    line << "granary: operator new: no memory for " << size << " bytes, and no C++ runtime that could throw; aborting "
         << "(link a static program with -Wl,-u,_ZSt17__throw_bad_allocv)\n";
    gr::platform::fatal(line.data(), line.size());
}

// Whether a handler was called, so that another attempt is worth it.
bool call_new_handler() {
    auto *const get_new_handler = of_runtime(&_ZSt15get_new_handlerv, "_ZSt15get_new_handlerv");
    const std::new_handler handler = get_new_handler == nullptr ? nullptr : get_new_handler();
    if (handler == nullptr) return false;
    handler();
    return true;
}

void *try_new(std::size_t size, std::size_t alignment, const void *caller) {
    if (!gr::is_power_of_two(alignment)) return nullptr;
    for (;;) {
        void *const p = gr::allocate_for_program(size, alignment, caller);
        if (p != nullptr || !call_new_handler()) return p;
    }
}

void *new_or_throw(std::size_t size, std::size_t alignment, const void *caller) {
    void *const p = try_new(size, alignment, caller);
    if (p == nullptr) out_of_memory(size);
    return p;
}

// Whether the loader bound a name to the library's own function. The compiler must not infer that from two names.
template <class Function>
bool is_same(Function *bound, Function *own) {
    asm("" : "+r"(bound));
    return bound == own;
}

// An exception of a new_handler or of the program's own operator ends the search. The library's own operators throw
// nothing here: without a runtime they could not.
template <class Throwing>
void *new_or_null(bool own, std::size_t size, std::size_t alignment, const void *caller, Throwing throwing) {
    try {
        return own ? try_new(size, alignment, caller) : throwing();
    } catch (...) {
        return nullptr;
    }
}

}  // namespace

// The library's own operators, under names that no program defines.
extern "C" {
using std::align_val_t;

void *gr_new_slow(std::size_t size) {
    const void *const caller = __builtin_return_address(0);
    if (void *const p = gr::allocate_for_program(size, 1, caller)) return p;
    if (!call_new_handler()) out_of_memory(size);
    return new_or_throw(size, 1, caller);
}
void *gr_new_aligned(std::size_t size, align_val_t alignment) {
    return new_or_throw(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void *gr_new_array(std::size_t size) { return ::operator new(size); }
void *gr_new_array_aligned(std::size_t size, align_val_t alignment) { return ::operator new(size, alignment); }
}

namespace {

bool is_new_own() { return is_same<void *(std::size_t)>(&::operator new, &gr_new); }
bool is_new_array_own() { return is_same<void *(std::size_t)>(&::operator new[], &gr_new_array) && is_new_own(); }
bool is_new_aligned_own() { return is_same<void *(std::size_t, align_val_t)>(&::operator new, &gr_new_aligned); }
bool is_new_array_aligned_own() {
    return is_same<void *(std::size_t, align_val_t)>(&::operator new[], &gr_new_array_aligned) && is_new_aligned_own();
}

}  // namespace

extern "C" {

void *gr_new_nothrow(std::size_t size, const std::nothrow_t &) noexcept {
    return new_or_null(is_new_own(), size, 1, __builtin_return_address(0), [=] { return ::operator new(size); });
}
void *gr_new_array_nothrow(std::size_t size, const std::nothrow_t &) noexcept {
    return new_or_null(is_new_array_own(), size, 1, __builtin_return_address(0),
                       [=] { return ::operator new[](size); });
}
void *gr_new_aligned_nothrow(std::size_t size, align_val_t alignment, const std::nothrow_t &) noexcept {
    return new_or_null(is_new_aligned_own(), size, static_cast<std::size_t>(alignment), __builtin_return_address(0),
                       [=] { return ::operator new(size, alignment); });
}
void *gr_new_array_aligned_nothrow(std::size_t size, align_val_t alignment, const std::nothrow_t &) noexcept {
    return new_or_null(is_new_array_aligned_own(), size, static_cast<std::size_t>(alignment),
                       __builtin_return_address(0), [=] { return ::operator new[](size, alignment); });
}

void gr_delete_sized(void *p, std::size_t) noexcept { ::operator delete(p); }
void gr_delete_nothrow(void *p, const std::nothrow_t &) noexcept { ::operator delete(p); }
void gr_delete_array(void *p) noexcept { ::operator delete(p); }
void gr_delete_array_sized(void *p, std::size_t) noexcept { ::operator delete[](p); }
void gr_delete_array_nothrow(void *p, const std::nothrow_t &) noexcept { ::operator delete[](p); }

void gr_delete_aligned_sized(void *p, std::size_t, align_val_t alignment) noexcept { ::operator delete(p, alignment); }
void gr_delete_aligned_nothrow(void *p, align_val_t alignment, const std::nothrow_t &) noexcept {
    ::operator delete(p, alignment);
}
void gr_delete_array_aligned(void *p, align_val_t alignment) noexcept { ::operator delete(p, alignment); }
void gr_delete_array_aligned_sized(void *p, std::size_t, align_val_t alignment) noexcept {
    ::operator delete[](p, alignment);
}
void gr_delete_array_aligned_nothrow(void *p, align_val_t alignment, const std::nothrow_t &) noexcept {
    ::operator delete[](p, alignment);
}
}

// The names under which programs find these functions. The compiler must not know that: each operator called above may
// be the program's own.
asm(R"(
    .macro OPERATOR name, of
    .globl \name
    .type \name, %function
    .set \name, \of
    .endm
    OPERATOR _ZnwmSt11align_val_t, gr_new_aligned
    OPERATOR _Znam, gr_new_array
    OPERATOR _ZnamSt11align_val_t, gr_new_array_aligned
    OPERATOR _ZnwmRKSt9nothrow_t, gr_new_nothrow
    OPERATOR _ZnamRKSt9nothrow_t, gr_new_array_nothrow
    OPERATOR _ZnwmSt11align_val_tRKSt9nothrow_t, gr_new_aligned_nothrow
    OPERATOR _ZnamSt11align_val_tRKSt9nothrow_t, gr_new_array_aligned_nothrow
    OPERATOR _ZdlPvm, gr_delete_sized
    OPERATOR _ZdlPvRKSt9nothrow_t, gr_delete_nothrow
    OPERATOR _ZdaPv, gr_delete_array
    OPERATOR _ZdaPvm, gr_delete_array_sized
    OPERATOR _ZdaPvRKSt9nothrow_t, gr_delete_array_nothrow
    OPERATOR _ZdlPvmSt11align_val_t, gr_delete_aligned_sized
    OPERATOR _ZdlPvSt11align_val_tRKSt9nothrow_t, gr_delete_aligned_nothrow
    OPERATOR _ZdaPvSt11align_val_t, gr_delete_array_aligned
    OPERATOR _ZdaPvmSt11align_val_t, gr_delete_array_aligned_sized
    OPERATOR _ZdaPvSt11align_val_tRKSt9nothrow_t, gr_delete_array_aligned_nothrow
)");
