// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/defaults.hpp"

#include "collector/collector.hpp"
#include "libgc/messages.hpp"

namespace gr {
namespace {

[[noreturn]] void die_of(const void *p, const char *what) {
    TextBuffer<128> line;
    line << p << ' ' << what << '\0';
    die(line.data());
}

}  // namespace

void *answer_null(std::size_t) { return nullptr; }
void push_stacks() { collector.push_threads(); }
void die_of_displacement(void *p) { die_of(p, "points into an object at an offset that is not registered"); }
void die_of_invisible(void *p) { die_of(p, "lies where the collector does not look for pointers"); }
void die_of_other_object(void *p, void *) {
    die_of(p, "and the pointer that it came from point into different objects");
}

}  // namespace gr
