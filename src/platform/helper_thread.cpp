// SPDX-License-Identifier: Apache-2.0 OR MIT
// Uses libc's threads: only libc makes every thread of a process change its user and group. errno stays as it was.
#include "platform/helper_thread.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>

#include "base/config.hpp"
#include "platform/syscall.hpp"

namespace gr::platform {
namespace {

constexpr std::size_t kStackBytes = 256 * kKiB;

// Only the one thread that may call on_end_of_this_thread() writes these.
void (*on_end)() = nullptr;
bool has_key = false;
pthread_key_t key{};

void *run_helper(void *argument) {
    const auto *const helper = static_cast<const Helper *>(argument);
    system_call(SYS_prctl, PR_SET_NAME, helper->name, 0, 0, 0);
    helper->run();
    return nullptr;
}

// stack_bytes 0: libc's default.
int create_detached(const Helper &helper, std::size_t stack_bytes) {
    pthread_attr_t attributes;
    if (const int error = pthread_attr_init(&attributes); error != 0) return error;
    pthread_t thread{};
    int error = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (error == 0 && stack_bytes != 0) error = pthread_attr_setstacksize(&attributes, stack_bytes);
    if (error == 0) error = pthread_create(&thread, &attributes, run_helper, const_cast<Helper *>(&helper));
    pthread_attr_destroy(&attributes);
    return error;
}

}  // namespace

// The helper inherits the signal mask. sigfillset() leaves out libc's own signals, also the one that changes users and
// groups.
int start_helper(const Helper &helper) {
    const int errno_before = errno;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = create_detached(helper, kStackBytes);
    // libc puts the program's thread-local storage on the stack, which may be too small for it.
    if (error == EINVAL) error = create_detached(helper, 0);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = errno_before;
    return error;
}

bool on_end_of_this_thread(void (*call)()) {
    on_end = call;
    if (!has_key) has_key = pthread_key_create(&key, [](void *) { on_end(); }) == 0;
    return has_key && pthread_setspecific(key, &key) == 0;
}

}  // namespace gr::platform
