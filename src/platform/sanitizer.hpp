// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether a tool that has a malloc of its own runs in this process and does not get to see the program's calls.
// Invariant: no library is loaded or searched: the addresses that the loader bound tell the answer.
// Must not know: what is done about it.
#pragma once

namespace gr::platform {

// ThreadSanitizer runs, and the program's malloc is this library's.
bool hides_calls_from_thread_sanitizer();

}  // namespace gr::platform
