// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: thousands of atexit handlers, static destructors and a thread that go on allocating while main exits.
// Invariant: the heap works to the very last handler; the last one to run says so by the exit code.
// Must not know: when the library's own finalisation runs.
#include "black_box.hpp"

#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kHandlers = 8192;
// What main returns; only the very last handler turns it into success.
constexpr int kNotEverythingRan = 1;

int handlers_run = 0;
bool object_destroyed = false;

void use_heap(std::size_t seed) {
    const std::size_t size = 1 + seed * 7919 % 40000;
    unsigned char *block = static_cast<unsigned char *>(std::malloc(size));
    GR_REQUIRE(block != nullptr);
    std::memset(block, static_cast<int>(seed % 256), size);
    block = static_cast<unsigned char *>(std::realloc(block, 2 * size));
    GR_REQUIRE(block != nullptr && block[size - 1] == seed % 256);
    std::free(block);
}

void handler() {
    ++handlers_run;
    use_heap(static_cast<std::size_t>(handlers_run));
}

// Registered before everything else, so it runs after everything else.
void last_handler() {
    GR_REQUIRE(handlers_run == kHandlers);
    GR_REQUIRE(object_destroyed);
    use_heap(1);
    gr::black_box::require_sound_heap();
    _exit(0);
}

__attribute__((constructor(101))) void register_last_handler() { GR_REQUIRE(std::atexit(last_handler) == 0); }

// Constructed before main with a thread that never ends, destroyed at exit.
class StaticObject {
  public:
    StaticObject() {
        for (int i = 0; i < 100; ++i) {
            texts_.emplace_back(500, 'x');
        }
        std::thread([] {
            for (std::size_t seed = 0;; ++seed) {
                use_heap(seed);
            }
        }).detach();
    }
    ~StaticObject() {
        texts_.resize(5000, std::string(100, 'y'));
        use_heap(texts_.size());
        object_destroyed = true;
    }
    void touch() { texts_.emplace_back("touched in main, a text of more than sixteen characters"); }

  private:
    std::vector<std::string> texts_;
};

StaticObject object;

}  // namespace

int main() {
    gr::black_box::require_granary();
    object.touch();
    for (int i = 0; i < kHandlers; ++i) {
        GR_REQUIRE(std::atexit(handler) == 0);
    }
    return kNotEverythingRan;
}
