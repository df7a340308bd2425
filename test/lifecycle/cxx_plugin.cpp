// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library in C++ that a program in C loads: what operator new does there when there is no memory.
// Invariant: the new_handler is asked, and what is thrown is caught here.
// Must not know: the program.
#include "black_box.hpp"

#include <new>

namespace {

constexpr std::size_t kTooMuch = std::size_t{1} << 60;

int asked = 0;

void give_up() {
    ++asked;
    std::set_new_handler(nullptr);
}

template <class New>
bool is_refused(New allocate) {
    std::set_new_handler(give_up);
    try {
        return allocate() == nullptr;
    } catch (const std::bad_alloc &) {
        return true;
    }
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int cxx_plugin_test() {
    gr::black_box::require_granary();
    constexpr std::align_val_t kAlignment{64};
    GR_REQUIRE(is_refused([] { return ::operator new(kTooMuch); }));
    GR_REQUIRE(is_refused([] { return ::operator new[](kTooMuch); }));
    GR_REQUIRE(is_refused([] { return ::operator new(kTooMuch, kAlignment); }));
    GR_REQUIRE(is_refused([] { return ::operator new(kTooMuch, std::nothrow); }));
    GR_REQUIRE(asked == 4);
    return 0;
}
