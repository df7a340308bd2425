// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads that allocate and share nothing, for ThreadSanitizer to look at.
// Invariant: it has no race, so whatever is reported is the allocator's fault.
// Must not know: which allocator serves it.
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4;
constexpr unsigned kStrings = 3000;
constexpr unsigned kLongest = 300;

void fill() {
    std::vector<std::string> strings;
    for (unsigned i = 0; i < kStrings; ++i) strings.emplace_back(i % kLongest, 'x');
}

}  // namespace

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(fill);
    for (std::thread &thread : threads) thread.join();
    return 0;
}
