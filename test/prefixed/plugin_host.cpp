// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      opens and closes libraries that have the archive in them, while threads that used them live on.
// Invariant: the kernel finds a thread's last sequence mapped as long as the thread lives: the library stays, though the
//            program closed it. The library does not hand on the archive's names.
// Must not know: what the library does.
#include "black_box.hpp"

#include <pthread.h>
#include <atomic>
#include <initializer_list>

namespace {

using Use = int (*)(unsigned rounds);

std::atomic<Use> use{nullptr};
std::atomic<int> used{0};
std::atomic<bool> is_closed{false};

constexpr int kThreads = 4;
constexpr std::size_t kRoom = std::size_t{100} << 20;

// Goes on for long enough to be preempted after the library was closed.
void *thread(void *) {
    GR_REQUIRE(use.load()(20'000) == 0);
    used.fetch_add(1);
    while (!is_closed.load()) {
    }
    for (int i = 0; i < 200; ++i) {
        usleep(100);
        getppid();
    }
    return nullptr;
}

}  // namespace

int main(int argc, char **argv) {
    GR_REQUIRE(argc == 3);
    for (int round = 0; round < 2; ++round) {
        for (const char *const name : {argv[1], argv[2]}) {
            void *const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
            if (library == nullptr) gr::black_box::leave(1, "%s\n", dlerror());
            const auto fill = reinterpret_cast<int (*)(std::size_t)>(dlsym(library, "fill_plugin"));
            GR_REQUIRE(fill != nullptr && fill(kRoom) == 0);
            dlclose(library);
        }
    }
    for (int round = 0; round < 3; ++round) {
        void *const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) gr::black_box::leave(1, "%s\n", dlerror());
        use = reinterpret_cast<Use>(dlsym(library, "use_plugin"));
        GR_REQUIRE(use.load() != nullptr);
        GR_REQUIRE(dlsym(library, "gr_malloc") == nullptr);
        used = 0;
        is_closed = false;
        pthread_t threads[kThreads];
        for (pthread_t &each : threads) GR_REQUIRE(pthread_create(&each, nullptr, thread, nullptr) == 0);
        while (used.load() != kThreads) sched_yield();
        dlclose(library);
        is_closed = true;
        for (const pthread_t each : threads) pthread_join(each, nullptr);
        void *const again = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
        GR_REQUIRE(again != nullptr);
        dlclose(again);
    }
    return 0;
}
