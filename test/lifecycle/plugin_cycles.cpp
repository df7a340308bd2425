// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a plugin with thread-local data, loaded, used by four threads and unloaded again a thousand times.
// Invariant: its data is fresh each time, and the number of live blocks does not grow with the cycles.
// Must not know: where libc puts thread-local data. The plugin's path is the first argument.
#include "black_box.hpp"

#include <dlfcn.h>
#include <barrier>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4;
constexpr int kWarmUp = 100;
constexpr int kCycles = 1000;
constexpr int kFreshSum = 5 + 6 + 7;

class Cycles {
  public:
    explicit Cycles(const char *path) : path_(path), step_(kThreads + 1) {
        for (int i = 0; i < kThreads; ++i) {
            threads_.emplace_back([this] { serve(); });
        }
    }
    ~Cycles() {
        sum_ = nullptr;
        step_.arrive_and_wait();
        for (std::thread &thread : threads_) {
            thread.join();
        }
    }
    Cycles(const Cycles &) = delete;
    Cycles &operator=(const Cycles &) = delete;

    void run(int count) {
        for (int i = 0; i < count; ++i) {
            void *plugin = dlopen(path_, RTLD_NOW | RTLD_LOCAL);
            GR_REQUIRE(plugin != nullptr);
            sum_ = reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_sum"));
            GR_REQUIRE(sum_ != nullptr);
            step_.arrive_and_wait();
            step_.arrive_and_wait();
            GR_REQUIRE(dlclose(plugin) == 0);
        }
    }

  private:
    void serve() {
        for (;;) {
            step_.arrive_and_wait();
            if (sum_ == nullptr) {
                return;
            }
            GR_REQUIRE(sum_() == kFreshSum);
            void *block = std::malloc(1000);
            std::free(gr::black_box::opaque(block));
            step_.arrive_and_wait();
        }
    }

    const char *path_;
    int (*sum_)() = nullptr;
    std::barrier<> step_;
    std::vector<std::thread> threads_;
};

}  // namespace

int main(int argc, char **argv) {
    gr::black_box::require_granary();
    GR_REQUIRE(argc == 2);
    Cycles cycles(argv[1]);
    cycles.run(kWarmUp);
    if (!gr::black_box::granary_in_use()) {
        cycles.run(kCycles);
        return 0;
    }
    const gr_statistics before = gr::black_box::statistics();
    cycles.run(kCycles);
    const gr_statistics after = gr::black_box::statistics();
    GR_REQUIRE(after.live_blocks <= before.live_blocks + 64);
    GR_REQUIRE(after.live_bytes <= before.live_bytes + 65536);
    gr::black_box::require_sound_heap();
    return 0;
}
