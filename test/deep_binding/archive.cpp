// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that the archive is linked into opens the plugin with RTLD_DEEPBIND.
// Invariant: the archive interposes nothing but the malloc family: dlopen is libc's, and so is the plugin's malloc, as asked.
// Must not know: what the archive holds. The plugin's path is the first argument.
#include <cstring>
#include <initializer_list>

#include "black_box.hpp"
#include "plugin.hpp"

int main(int argc, char **argv) {
    gr::black_box::require_granary();
    GR_REQUIRE(argc == 2);
    for (const char *name : {"dlopen", "dlmopen"}) {
        Dl_info found{};
        GR_REQUIRE(dladdr(dlsym(RTLD_DEFAULT, name), &found) != 0);
        GR_REQUIRE(std::strstr(found.dli_fname, "libc.so.6") != nullptr);
    }
    void *const handle = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
    GR_REQUIRE(handle != nullptr);
    const Plugin plugin(handle);
    void *const block = plugin.allocate(0, 100);
    GR_REQUIRE(block != nullptr && gr_owns(block) == 0);
    GR_REQUIRE(gr_owns(gr::black_box::opaque(std::malloc(100))) == 1);
    plugin.release(block);
    return 0;
}
