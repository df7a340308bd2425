// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a plugin with thread-local data of its own, in the dynamic model: libc allocates it at first use.
// Invariant: a thread's data starts as initialised, however often the plugin was loaded before.
// Must not know: how often it is loaded.
static thread_local unsigned char data[3000] = {5, 6, 7};

extern "C" int plugin_sum() {
    int sum = 0;
    for (unsigned char byte : data) {
        sum += byte;
    }
    data[2999] = 100;
    return sum;
}
