// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library that takes 64 bytes of the static thread-local storage that libc holds in reserve.
// Invariant: its variable is accessed by the initial-exec model only.
// Must not know: how many copies of it are loaded.
[[gnu::tls_model("initial-exec")]] static thread_local char storage[64] = {1};

extern "C" char *static_tls_storage() { return storage; }
