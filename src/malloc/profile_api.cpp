// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of granary/profile.h, what GRANARY_PROFILE says of the program's start and end, and its signal.
// Invariant: the profile begins after a library in front of malloc could forbid it, and before the program does
//    anything.
// Must not know: how samples are taken.
#include "granary/profile.h"

#include <signal.h>

#include <cerrno>

#include "malloc/sampled.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

void wait_for_signal(int signal) {
    struct sigaction action {};
    action.sa_handler = [](int) { sampled.profile().dump_soon(); };
    action.sa_flags = SA_RESTART;
    if (sigaction(signal, &action, nullptr) == 0) return;
    TextBuffer<160> line;
    line << "granary: no profile is written at signal " << static_cast<unsigned>(signal)
         << ": the C library reserves this signal; choose another in GRANARY_PROFILE\n";
    platform::write_all(2, line.data(), line.size());
}

void say_refused(const char *why) {
    TextBuffer<256> line;
    line << "granary: no profile is taken: " << why << '\n';
    platform::write_all(2, line.data(), line.size());
}

[[gnu::constructor(103)]] void begin() {
    sampled.open();
    const Options &options = instance.options();
    if (options.profile == 0) return;
    if (const Sampled::Refusal refusal = sampled.start(options.profile); refusal.error != 0)
        return say_refused(refusal.why);
    if (const std::size_t signal = options.profile_moments % kProfileAtExit; signal != 0)
        wait_for_signal(static_cast<int>(signal));
}

// Runs after the program's own destructors.
[[gnu::destructor(103)]] void end() {
    const Options &options = instance.options();
    if (sampled.is_on() && options.profile != 0 && options.profile_moments >= kProfileAtExit)
        sampled.profile().dump_at_end();
}

int result_of(long error) {
    if (error == 0) return 0;
    errno = static_cast<int>(error);
    return -1;
}

}  // namespace
}  // namespace gr

extern "C" {

int gr_profile_start(size_t mean_bytes) { return gr::result_of(gr::sampled.start(mean_bytes).error); }

int gr_profile_stop() { return gr::result_of(gr::sampled.stop()); }

int gr_profile_reset() { return gr::result_of(gr::sampled.reset()); }

int gr_profile_dump(const char *path) {
    return gr::result_of(gr::sampled.is_on() ? -gr::sampled.profile().dump(path) : ENOTSUP);
}

}  // extern "C"
