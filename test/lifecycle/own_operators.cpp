// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that replaces some of C++'s operators new and delete by ones that put a header before each block.
// Invariant: every other form of them comes to these, as the standard defines it: none meets a block without a header.
// Must not know: how a form is found that is not replaced.
#include "black_box.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kHeader = 64;
constexpr std::size_t kTooMuch = std::size_t{1} << 40;

enum class Form : std::size_t { kNone, kSingle, kArray, kAlignedSingle, kAlignedArray };

long live = 0;

// The compiler knows that no other pointer leads to what new returns, and that nothing lies before it.
template <class T>
T *opaque(T *pointer) {
    asm("" : "+r"(pointer));
    return pointer;
}

void *with_header(std::size_t size, Form form) {
    if (size >= kTooMuch) throw std::bad_alloc();
    void *const memory = std::aligned_alloc(kHeader, (size + 2 * kHeader - 1) / kHeader * kHeader);
    if (memory == nullptr) throw std::bad_alloc();
    ++live;
    *static_cast<Form *>(memory) = form;
    return static_cast<std::byte *>(memory) + kHeader;
}

void without_header(void *block, Form form) {
    if (block == nullptr) return;
    void *const memory = static_cast<std::byte *>(opaque(block)) - kHeader;
    GR_REQUIRE(*static_cast<Form *>(memory) == form);
    *static_cast<Form *>(memory) = Form::kNone;
    --live;
    std::free(memory);
}

Form form_of(const void *block) {
    return *reinterpret_cast<const Form *>(static_cast<const std::byte *>(opaque(block)) - kHeader);
}

}  // namespace

// Which of them are the program's own.
#ifdef OWN_SINGLE
constexpr Form kSingle = Form::kSingle, kAlignedSingle = Form::kAlignedSingle;
void *operator new(std::size_t size) { return with_header(size, Form::kSingle); }
void operator delete(void *block) noexcept { without_header(block, Form::kSingle); }
void *operator new(std::size_t size, std::align_val_t) { return with_header(size, Form::kAlignedSingle); }
void operator delete(void *block, std::align_val_t) noexcept { without_header(block, Form::kAlignedSingle); }
#else
constexpr Form kSingle = Form::kNone, kAlignedSingle = Form::kNone;
#endif
#ifdef OWN_ARRAY
constexpr Form kArray = Form::kArray, kAlignedArray = Form::kAlignedArray;
void *operator new[](std::size_t size) { return with_header(size, Form::kArray); }
void operator delete[](void *block) noexcept { without_header(block, Form::kArray); }
void *operator new[](std::size_t size, std::align_val_t) { return with_header(size, Form::kAlignedArray); }
void operator delete[](void *block, std::align_val_t) noexcept { without_header(block, Form::kAlignedArray); }
#else
constexpr Form kArray = kSingle, kAlignedArray = kAlignedSingle;
#endif

namespace {

constexpr std::align_val_t kAlignment{kHeader};

// Each form of new must have come to `form`, and each of delete must take it.
template <class New, class... Delete>
void check(Form form, New allocate, Delete... release) {
    for (std::size_t size = 1; size < 1000000; size *= 3) {
        const auto one = [&](auto last) {
            const long before = live;
            void *const block = allocate(size);
            GR_REQUIRE(block != nullptr);
            if (form != Form::kNone) GR_REQUIRE(live == before + 1 && form_of(block) == form);
            std::memset(block, 1, size);
            last(block, size);
            GR_REQUIRE(live == before);
        };
        (one(release), ...);
    }
}

void check_single() {
    const auto throwing = [](std::size_t size) { return ::operator new(size); };
    const auto silent = [](std::size_t size) { return ::operator new(size, std::nothrow); };
    const auto plain = [](void *p, std::size_t) { ::operator delete(p); };
    const auto sized = [](void *p, std::size_t size) { ::operator delete(p, size); };
    const auto quiet = [](void *p, std::size_t) { ::operator delete(p, std::nothrow); };
    check(kSingle, throwing, plain, sized, quiet);
    check(kSingle, silent, plain, sized, quiet);
}

void check_array() {
    const auto throwing = [](std::size_t size) { return ::operator new[](size); };
    const auto silent = [](std::size_t size) { return ::operator new[](size, std::nothrow); };
    const auto plain = [](void *p, std::size_t) { ::operator delete[](p); };
    const auto sized = [](void *p, std::size_t size) { ::operator delete[](p, size); };
    const auto quiet = [](void *p, std::size_t) { ::operator delete[](p, std::nothrow); };
    check(kArray, throwing, plain, sized, quiet);
    check(kArray, silent, plain, sized, quiet);
}

void check_aligned_single() {
    const auto throwing = [](std::size_t size) { return ::operator new(size, kAlignment); };
    const auto silent = [](std::size_t size) { return ::operator new(size, kAlignment, std::nothrow); };
    const auto plain = [](void *p, std::size_t) { ::operator delete(p, kAlignment); };
    const auto sized = [](void *p, std::size_t size) { ::operator delete(p, size, kAlignment); };
    const auto quiet = [](void *p, std::size_t) { ::operator delete(p, kAlignment, std::nothrow); };
    check(kAlignedSingle, throwing, plain, sized, quiet);
    check(kAlignedSingle, silent, plain, sized, quiet);
}

void check_aligned_array() {
    const auto throwing = [](std::size_t size) { return ::operator new[](size, kAlignment); };
    const auto silent = [](std::size_t size) { return ::operator new[](size, kAlignment, std::nothrow); };
    const auto plain = [](void *p, std::size_t) { ::operator delete[](p, kAlignment); };
    const auto sized = [](void *p, std::size_t size) { ::operator delete[](p, size, kAlignment); };
    const auto quiet = [](void *p, std::size_t) { ::operator delete[](p, kAlignment, std::nothrow); };
    check(kAlignedArray, throwing, plain, sized, quiet);
    check(kAlignedArray, silent, plain, sized, quiet);
}

// If an operator of the program throws, the nothrow form returns a null pointer.
void check_no_memory() {
    GR_REQUIRE(::operator new(kTooMuch * 1024 * 1024, std::nothrow) == nullptr);
    GR_REQUIRE(::operator new[](kTooMuch * 1024 * 1024, std::nothrow) == nullptr);
    GR_REQUIRE(::operator new(kTooMuch * 1024 * 1024, kAlignment, std::nothrow) == nullptr);
    GR_REQUIRE(::operator new[](kTooMuch * 1024 * 1024, kAlignment, std::nothrow) == nullptr);
}

// The runtime mixes forms: a sort that stays in order asks nothrow, and deletes what it got.
void check_runtime() {
    std::vector<std::string> names;
    for (int i = 0; i < 1000; ++i) names.push_back(std::to_string(i * 7919 % 1000) + " in a text that needs a block");
    std::stable_sort(names.begin(), names.end());
    GR_REQUIRE(std::is_sorted(names.begin(), names.end()));
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    check_single();
    check_array();
    check_aligned_single();
    check_aligned_array();
    check_no_memory();
    check_runtime();
    GR_REQUIRE(live == 0);
    return 0;
}
