// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a host and a plugin loaded with RTLD_DEEPBIND, which sees libc's malloc before the preloaded one.
// Invariant: what crosses over either is a block of the heap it is freed to, or is diagnosed by an abort; the other
//    heap is never corrupted.
// Must not know: the message's wording beyond its start. The plugin's path is the first argument.
#include "black_box.hpp"

#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <functional>

namespace {

struct Plugin {
    char *(*duplicate)(const char *);
    void *(*allocate)(std::size_t);
    void (*release)(void *);
};

struct Outcome {
    int status;
    char said[512];
};

Outcome in_child(const std::function<void()> &body) {
    const int file = memfd_create("stderr", 0);
    const pid_t process = fork();
    GR_REQUIRE(process >= 0);
    if (process == 0) {
        dup2(file, STDERR_FILENO);
        body();
        _exit(0);
    }
    Outcome outcome{};
    GR_REQUIRE(waitpid(process, &outcome.status, 0) == process);
    GR_REQUIRE(pread(file, outcome.said, sizeof outcome.said - 1, 0) >= 0);
    close(file);
    return outcome;
}

// libc's own strdup calls the malloc that the whole program sees, deep binding or not.
void strdup_crosses_over(const Plugin &plugin) {
    for (int i = 0; i < 1000; ++i) {
        char *text = plugin.duplicate("a text");
        GR_REQUIRE(std::strcmp(text, "a text") == 0);
        std::free(text);
    }
}

void plugin_block_is_diagnosed(const Plugin &plugin) {
    void *block = plugin.allocate(100);
    GR_REQUIRE(gr_owns(block) == 0);
    const Outcome outcome = in_child([block] { std::free(block); });
    GR_REQUIRE(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGABRT);
    char expected[200];
    std::snprintf(expected, sizeof expected,
                  "granary: free(%p): not a block of this heap: a foreign pointer, or a large block that is already "
                  "free; aborting\n",
                  block);
    GR_REQUIRE(std::strcmp(outcome.said, expected) == 0);
    plugin.release(block);
}

// libc looks for its header before the block; in ours there is the end of the block before, here all zero.
void host_block_is_diagnosed(const Plugin &plugin) {
    void *blocks[64];
    for (void *&block : blocks) {
        block = std::calloc(1, 96);
    }
    const Outcome outcome = in_child([&] { plugin.release(blocks[32]); });
    GR_REQUIRE(WIFSIGNALED(outcome.status));
    GR_REQUIRE(std::strstr(outcome.said, "granary") == nullptr);
    for (void *block : blocks) {
        std::free(block);
    }
}

void both_heaps_work(const Plugin &plugin) {
    for (std::size_t size = 1; size < 100000; size += 997) {
        void *theirs = plugin.allocate(size);
        void *ours = gr::black_box::opaque(std::malloc(size));
        std::memset(theirs, 1, size);
        std::memset(ours, 2, size);
        plugin.release(theirs);
        std::free(ours);
    }
}

}  // namespace

int main(int argc, char **argv) {
    gr::black_box::require_granary();
    GR_REQUIRE(argc == 2);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    GR_REQUIRE(library != nullptr);
    const Plugin plugin{reinterpret_cast<char *(*)(const char *)>(dlsym(library, "plugin_duplicate")),
                        reinterpret_cast<void *(*)(std::size_t)>(dlsym(library, "plugin_allocate")),
                        reinterpret_cast<void (*)(void *)>(dlsym(library, "plugin_release"))};
    strdup_crosses_over(plugin);
    both_heaps_work(plugin);
    if (gr::black_box::granary_in_use()) {
        plugin_block_is_diagnosed(plugin);
        host_block_is_diagnosed(plugin);
    }
    both_heaps_work(plugin);
    gr::black_box::require_sound_heap();
    return 0;
}
