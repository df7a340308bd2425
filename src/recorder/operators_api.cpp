// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: C++'s operators new and delete over the allocator's malloc and free, each recorded as what it is.
// Invariant: as in libgranary: each form calls the one that the standard defines it over, if that is the program's own.
//    No memory: the new_handler is asked until there is none, then std::bad_alloc is thrown by the C++ runtime that the
//    program brought; this library needs none.
// Must not know: how calls are recorded.
#include <new>

#include "base/text.hpp"
#include "granary/granary.h"
#include "platform/loader.hpp"
#include "platform/process.hpp"
#include "recorder/calls.hpp"
#include "recorder/rebound.hpp"

// The runtime's own, if the program has one at its start: what is caught here cannot exist without it.
asm(".weak __gxx_personality_v0, __cxa_begin_catch, __cxa_end_catch, _ZSt9terminatev");

namespace {

using gr::Kind;
using gr::next;
using std::align_val_t;

template <class Function>
Function *of_runtime(const char *name) {
    for (const char *const library : {"libstdc++.so.6", "libc++.so.1"}) {
        if (void *const found = gr::platform::loaded_symbol(name, library)) return reinterpret_cast<Function *>(found);
    }
    return nullptr;
}

[[noreturn]] void out_of_memory(std::size_t size) {
    if (auto *const throw_bad_alloc = of_runtime<void()>("_ZSt17__throw_bad_allocv")) throw_bad_alloc();
    gr::TextBuffer<128> line;
    line << "granary: operator new: no memory for " << size
         << " bytes, and no C++ runtime that could throw; aborting\n";
    gr::platform::fatal(line.data(), line.size());
}

// Whether a handler was called, so that another try is worth it.
bool call_new_handler() {
    auto *const get_new_handler = of_runtime<std::new_handler()>("_ZSt15get_new_handlerv");
    const std::new_handler handler = get_new_handler == nullptr ? nullptr : get_new_handler();
    if (handler == nullptr) return false;
    handler();
    return true;
}

[[gnu::always_inline]] inline void *ask_new(Kind kind, std::size_t size) {
    return gr::obtain({kind, size}, [=] { return next.malloc(size == 0 ? 1 : size); });
}

[[gnu::always_inline]] inline void *ask_new(Kind kind, std::size_t size, align_val_t alignment) {
    const auto bytes = static_cast<std::size_t>(alignment);
    const auto ask = [=] {
        void *p = nullptr;
        const std::size_t least = bytes < sizeof(void *) ? sizeof(void *) : bytes;
        return next.posix_memalign(&p, least, size == 0 ? 1 : size) == 0 ? p : nullptr;
    };
    return gr::obtain({kind, size, bytes}, ask);
}

// After the first that got nothing.
template <class... Alignment>
[[gnu::noinline, gnu::cold]] void *try_new_again(Kind kind, std::size_t size, Alignment... alignment) {
    void *p = nullptr;
    while (p == nullptr && call_new_handler()) p = ask_new(kind, size, alignment...);
    return p;
}

template <class... Alignment>
[[gnu::noinline, gnu::cold]] void *new_again_or_throw(Kind kind, std::size_t size, Alignment... alignment) {
    void *const p = try_new_again(kind, size, alignment...);
    if (p == nullptr) out_of_memory(size);
    return p;
}

template <class... Alignment>
[[gnu::noinline, gnu::cold]] void *new_again_or_null(Kind kind, std::size_t size, Alignment... alignment) {
    try {
        return try_new_again(kind, size, alignment...);
    } catch (...) {
        return nullptr;
    }
}

template <class... Alignment>
[[gnu::always_inline]] inline void *new_or_throw(Kind kind, std::size_t size, Alignment... alignment) {
    void *const p = ask_new(kind, size, alignment...);
    return p != nullptr ? p : new_again_or_throw(kind, size, alignment...);
}

template <class... Alignment>
[[gnu::always_inline]] inline void *new_or_null(Kind kind, std::size_t size, Alignment... alignment) {
    void *const p = ask_new(kind, size, alignment...);
    return p != nullptr ? p : new_again_or_null(kind, size, alignment...);
}

// What is thrown, by the program's own operator, ends the search.
template <class Throwing>
[[gnu::noinline]] void *programs_or_null(Throwing throwing) {
    try {
        return throwing();
    } catch (...) {
        return nullptr;
    }
}

[[gnu::always_inline]] inline void give(Kind kind, void *p) {
    gr::release(kind, p, [](void *block) { next.free(block); });
}

// Whether the loader bound a name to this library's own function. The compiler must not infer that from two names.
template <class Function>
[[gnu::always_inline]] inline bool is_same(Function *bound, Function *own) {
    asm("" : "+r"(bound));
    return bound == own;
}

using New = void *(std::size_t);
using NewAligned = void *(std::size_t, align_val_t);
using Delete = void(void *) noexcept;
using DeleteAligned = void(void *, align_val_t) noexcept;

}  // namespace

// This library's own, under names that no program defines.
extern "C" {

void *gr_record_new(std::size_t size) { return new_or_throw(Kind::new_one, size); }
void *gr_record_new_aligned(std::size_t size, align_val_t alignment) {
    return new_or_throw(Kind::new_one, size, alignment);
}
void *gr_record_new_array(std::size_t size) {
    if (!is_same<New>(&::operator new, &gr_record_new)) return ::operator new(size);
    return new_or_throw(Kind::new_array, size);
}
void *gr_record_new_array_aligned(std::size_t size, align_val_t alignment) {
    if (!is_same<NewAligned>(&::operator new, &gr_record_new_aligned)) return ::operator new(size, alignment);
    return new_or_throw(Kind::new_array, size, alignment);
}

void gr_record_delete(void *p) noexcept { give(Kind::delete_one, p); }
void gr_record_delete_aligned(void *p, align_val_t) noexcept { give(Kind::delete_one, p); }
void gr_record_delete_array(void *p) noexcept {
    if (!is_same<Delete>(&::operator delete, &gr_record_delete)) return ::operator delete(p);
    give(Kind::delete_array, p);
}
void gr_record_delete_array_aligned(void *p, align_val_t alignment) noexcept {
    if (!is_same<DeleteAligned>(&::operator delete, &gr_record_delete_aligned)) return ::operator delete(p, alignment);
    give(Kind::delete_array, p);
}

}  // extern "C"

namespace {

bool is_new_own() { return is_same<New>(&::operator new, &gr_record_new); }
bool is_new_array_own() { return is_same<New>(&::operator new[], &gr_record_new_array) && is_new_own(); }
bool is_new_aligned_own() { return is_same<NewAligned>(&::operator new, &gr_record_new_aligned); }
bool is_new_array_aligned_own() {
    return is_same<NewAligned>(&::operator new[], &gr_record_new_array_aligned) && is_new_aligned_own();
}

}  // namespace

[[gnu::weak, gnu::alias("gr_record_new")]] GR_EXPORT void *operator new(std::size_t size);
[[gnu::weak, gnu::alias("gr_record_new_aligned")]] GR_EXPORT void *operator new(std::size_t size,
                                                                                align_val_t alignment);
[[gnu::weak, gnu::alias("gr_record_new_array")]] GR_EXPORT void *operator new[](std::size_t size);
[[gnu::weak, gnu::alias("gr_record_new_array_aligned")]] GR_EXPORT void *operator new[](std::size_t size,
                                                                                        align_val_t alignment);

[[gnu::weak]] GR_EXPORT void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
    if (is_new_own()) return new_or_null(Kind::new_one, size);
    return programs_or_null([=] { return ::operator new(size); });
}
[[gnu::weak]] GR_EXPORT void *operator new[](std::size_t size, const std::nothrow_t &) noexcept {
    if (is_new_array_own()) return new_or_null(Kind::new_array, size);
    return programs_or_null([=] { return ::operator new[](size); });
}
[[gnu::weak]] GR_EXPORT void *operator new(std::size_t size, align_val_t alignment, const std::nothrow_t &) noexcept {
    if (is_new_aligned_own()) return new_or_null(Kind::new_one, size, alignment);
    return programs_or_null([=] { return ::operator new(size, alignment); });
}
[[gnu::weak]] GR_EXPORT void *operator new[](std::size_t size, align_val_t alignment, const std::nothrow_t &) noexcept {
    if (is_new_array_aligned_own()) return new_or_null(Kind::new_array, size, alignment);
    return programs_or_null([=] { return ::operator new[](size, alignment); });
}

[[gnu::weak, gnu::alias("gr_record_delete")]] GR_EXPORT void operator delete(void *p) noexcept;
[[gnu::weak, gnu::alias("gr_record_delete_array")]] GR_EXPORT void operator delete[](void *p) noexcept;
[[gnu::weak, gnu::alias("gr_record_delete_aligned")]] GR_EXPORT void operator delete(void *p, align_val_t) noexcept;
[[gnu::weak, gnu::alias("gr_record_delete_array_aligned")]] GR_EXPORT void operator delete[](void *p,
                                                                                             align_val_t) noexcept;

[[gnu::weak]] GR_EXPORT void operator delete(void *p, std::size_t) noexcept { ::operator delete(p); }
[[gnu::weak]] GR_EXPORT void operator delete(void *p, const std::nothrow_t &) noexcept { ::operator delete(p); }
[[gnu::weak]] GR_EXPORT void operator delete[](void *p, std::size_t) noexcept { ::operator delete[](p); }
[[gnu::weak]] GR_EXPORT void operator delete[](void *p, const std::nothrow_t &) noexcept { ::operator delete[](p); }

[[gnu::weak]] GR_EXPORT void operator delete(void *p, std::size_t, align_val_t alignment) noexcept {
    ::operator delete(p, alignment);
}
[[gnu::weak]] GR_EXPORT void operator delete(void *p, align_val_t alignment, const std::nothrow_t &) noexcept {
    ::operator delete(p, alignment);
}
[[gnu::weak]] GR_EXPORT void operator delete[](void *p, std::size_t, align_val_t alignment) noexcept {
    ::operator delete[](p, alignment);
}
[[gnu::weak]] GR_EXPORT void operator delete[](void *p, align_val_t alignment, const std::nothrow_t &) noexcept {
    ::operator delete[](p, alignment);
}

// Over the allocator's malloc and free, whatever the program's operators are.
namespace gr {
namespace {

using std::nothrow_t;

void *new_array(std::size_t size) { return new_or_throw(Kind::new_array, size); }
void *new_array_aligned(std::size_t size, align_val_t alignment) {
    return new_or_throw(Kind::new_array, size, alignment);
}
template <Kind kind>
void *new_nothrow(std::size_t size, const nothrow_t &) noexcept {
    return new_or_null(kind, size);
}
template <Kind kind>
void *new_aligned_nothrow(std::size_t size, align_val_t alignment, const nothrow_t &) noexcept {
    return new_or_null(kind, size, alignment);
}
// What else a form of delete gets is of no interest.
template <Kind kind, class... Others>
void delete_by(void *p, Others...) noexcept {
    give(kind, p);
}

template <class Function>
Operator named(const char *name, Function *function) {
    return {name, reinterpret_cast<void *>(function)};
}

}  // namespace

std::span<const Operator> operators() {
    constexpr Kind kOne = Kind::delete_one;
    constexpr Kind kArray = Kind::delete_array;
    static const Operator list[] = {
        named("_Znwm", &gr_record_new),
        named("_ZnwmSt11align_val_t", &gr_record_new_aligned),
        named("_ZnwmRKSt9nothrow_t", &new_nothrow<Kind::new_one>),
        named("_ZnwmSt11align_val_tRKSt9nothrow_t", &new_aligned_nothrow<Kind::new_one>),
        named("_Znam", &new_array),
        named("_ZnamSt11align_val_t", &new_array_aligned),
        named("_ZnamRKSt9nothrow_t", &new_nothrow<Kind::new_array>),
        named("_ZnamSt11align_val_tRKSt9nothrow_t", &new_aligned_nothrow<Kind::new_array>),
        named("_ZdlPv", &delete_by<kOne>),
        named("_ZdlPvm", &delete_by<kOne, std::size_t>),
        named("_ZdlPvSt11align_val_t", &delete_by<kOne, align_val_t>),
        named("_ZdlPvmSt11align_val_t", &delete_by<kOne, std::size_t, align_val_t>),
        named("_ZdlPvRKSt9nothrow_t", &delete_by<kOne, const nothrow_t &>),
        named("_ZdlPvSt11align_val_tRKSt9nothrow_t", &delete_by<kOne, align_val_t, const nothrow_t &>),
        named("_ZdaPv", &delete_by<kArray>),
        named("_ZdaPvm", &delete_by<kArray, std::size_t>),
        named("_ZdaPvSt11align_val_t", &delete_by<kArray, align_val_t>),
        named("_ZdaPvmSt11align_val_t", &delete_by<kArray, std::size_t, align_val_t>),
        named("_ZdaPvRKSt9nothrow_t", &delete_by<kArray, const nothrow_t &>),
        named("_ZdaPvSt11align_val_tRKSt9nothrow_t", &delete_by<kArray, align_val_t, const nothrow_t &>),
    };
    return list;
}

}  // namespace gr
