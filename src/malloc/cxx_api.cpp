// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: C++'s operator new in all its forms (operator delete is free, in the assembly file), and its slow path.
// Invariant: no memory: the new_handler is asked until there is none, then std::bad_alloc is thrown by the C++ runtime
//            that the program brought; this library needs none.
// Must not know: how blocks are found.
#include <new>

#include "base/text.hpp"
#include "malloc/c_api.hpp"
#include "malloc/instance.hpp"
#include "platform/process.hpp"

// The runtime's own, if the program has one: what is thrown through here, or caught, cannot exist without it.
asm(".weak __gxx_personality_v0, __cxa_begin_catch, __cxa_end_catch, _ZSt9terminatev");
extern "C" {
[[gnu::weak]] std::new_handler _ZSt15get_new_handlerv();
[[gnu::weak]] void _ZSt17__throw_bad_allocv();
}

namespace {

[[noreturn]] void out_of_memory(std::size_t size) {
    if (&_ZSt17__throw_bad_allocv != nullptr) _ZSt17__throw_bad_allocv();
    gr::TextBuffer<128> line;
    line << "granary: operator new: no memory for " << size << " bytes, and no C++ runtime to throw; aborting\n";
    gr::platform::fatal(line.data(), line.size());
}

// Whether a handler was called, so that another try is worth it.
bool call_new_handler() {
    const std::new_handler handler = &_ZSt15get_new_handlerv == nullptr ? nullptr : _ZSt15get_new_handlerv();
    if (handler == nullptr) return false;
    handler();
    return true;
}

void *try_new(std::size_t size, std::size_t alignment) {
    for (;;) {
        void *const p =
            alignment <= gr::kFineStep ? gr::instance.allocate(size) : gr::instance.allocate_aligned(size, alignment);
        if (p != nullptr || !call_new_handler()) return p;
    }
}

// What a new_handler throws ends a nothrow form's search.
void *new_or_null(std::size_t size, std::size_t alignment) {
    try {
        return try_new(size, alignment);
    } catch (...) {
        return nullptr;
    }
}

void *new_or_throw(std::size_t size, std::size_t alignment) {
    void *const p = try_new(size, alignment);
    if (p == nullptr) out_of_memory(size);
    return p;
}

}  // namespace

extern "C" void *gr_new_slow(std::size_t size) { return new_or_throw(size, 1); }

GR_EXPORT void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return new_or_null(size, 1); }
GR_EXPORT void *operator new[](std::size_t size, const std::nothrow_t &) noexcept { return new_or_null(size, 1); }
GR_EXPORT void *operator new(std::size_t size, std::align_val_t alignment) {
    return new_or_throw(size, static_cast<std::size_t>(alignment));
}
GR_EXPORT void *operator new[](std::size_t size, std::align_val_t alignment) {
    return new_or_throw(size, static_cast<std::size_t>(alignment));
}
GR_EXPORT void *operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
    return new_or_null(size, static_cast<std::size_t>(alignment));
}
GR_EXPORT void *operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
    return new_or_null(size, static_cast<std::size_t>(alignment));
}
