// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: face.hpp.
// Invariant: as there.
// Must not know: the names that programs call.
#include "gcmalloc/face.hpp"

#include <pthread.h>
#include <signal.h>

#include "base/text.hpp"
#include "collector/collector.hpp"
#include "gcmalloc/stop_signal.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constexpr std::size_t kLater = kMiB;  // allocated after a collection that could not be done, before the next is tried

// Of the process that started; a child of vfork has another, and its parent's memory.
std::uint32_t process = 0;

bool is_own_process() { return platform::process_id() == process; }

void say_plain(const char *why) {
    TextBuffer<256> line;
    line << "granary: nothing is collected: " << why << '\n';
    platform::write_all(2, line.data(), line.size());
}

}  // namespace

constinit Face face;

void Face::begin() {
    if (!instance.ensure_started() || instance.region().is_scarce())
        return say_plain("the process may have too few addresses (RLIMIT_AS); raise the limit");
    const KindSetup setup{.descriptor = {}, .adds_size = true, .zeroed = false, .lifetime = Lifetime::collected};
    if (!collector.start_over(instance, setup, kStopSignal))
        return say_plain("the kernel refused addresses or a signal's handler");
    process = platform::process_id();
    pthread_atfork([] { collector.lock(); }, [] { collector.unlock(); },
                   [] {
                       process = platform::process_id();
                       collector.forget_other_threads();
                       collector.unlock();
                   });
    frees_ = static_cast<FreeMode>(instance.options().free) == FreeMode::now;
    mode_ = Mode::collect;
}

void Face::collect_if_due() {
    if (!collector.pace().is_due(collector.used_bytes())) [[likely]]
        return;
    const int before = errno;
    if (is_own_process()) collector.collect_if_due();
    if (collector.pace().is_due(collector.used_bytes())) collector.pace().expect(kLater);
    errno = before;
}

bool Face::collect() { return is_own_process() && collector.collect().done; }

}  // namespace gr
