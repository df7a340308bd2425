// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: wraps libc's functions by which a program could block the signal of the stop, or replace its handler.
// Invariant: every other request goes to libc unchanged. A request that is left out is answered as if it had been done.
// Must not know: how threads are stopped, and why.
#include <cerrno>

#include "collector/collector.hpp"
#include "gcmalloc/stop_signal.hpp"
#include "malloc/c_api.hpp"
#include "platform/loader.hpp"

namespace {

using Mask = int (*)(int how, const sigset_t *set, sigset_t *old);
using Action = int (*)(int signal, const struct sigaction *action, struct sigaction *old);
using Handler = void (*)(int);
using Set = Handler (*)(int signal, Handler handler);

template <class Function>
Function next(const char *name) {
    return reinterpret_cast<Function>(gr::platform::next_symbol(name));
}

bool is_ours(int signal) { return signal == gr::kStopSignal && gr::collector.is_started(); }

int mask(Mask libcs, int refusal, int how, const sigset_t *set, sigset_t *old) {
    if (libcs == nullptr) return refusal;
    if (set == nullptr || how == SIG_UNBLOCK || !is_ours(gr::kStopSignal)) return libcs(how, set, old);
    sigset_t without = *set;
    sigdelset(&without, gr::kStopSignal);
    return libcs(how, &without, old);
}

}  // namespace

extern "C" {

GR_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    return mask(next<Mask>("pthread_sigmask"), ENOSYS, how, set, old);
}

GR_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    return mask(next<Mask>("sigprocmask"), -1, how, set, old);
}

GR_EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
    const auto libcs = next<Action>("sigaction");
    return libcs == nullptr ? -1 : libcs(signal, is_ours(signal) ? nullptr : action, old);
}

GR_EXPORT Handler signal(int number, Handler handler) {
    const auto libcs = next<Set>("signal");
    return libcs == nullptr || is_ours(number) ? SIG_DFL : libcs(number, handler);
}

}  // extern "C"
