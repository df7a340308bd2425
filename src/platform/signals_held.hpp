// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: no signal handler runs on the calling thread for as long as an object of this class lives.
// Invariant: libc's own signals are held, too; faults of the thread itself are not.
// Must not know: why.
#pragma once

#include <signal.h>
#include <sys/syscall.h>

#include <cstdint>

#include "platform/syscall.hpp"

namespace gr::platform {

class SignalsHeld {
  public:
    SignalsHeld() {
        const std::uint64_t all = ~std::uint64_t{0};
        system_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof before_);
    }
    ~SignalsHeld() { system_call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }
    SignalsHeld(const SignalsHeld &) = delete;
    SignalsHeld &operator=(const SignalsHeld &) = delete;

  private:
    std::uint64_t before_ = 0;  // the kernel's set, which is smaller than libc's
};

}  // namespace gr::platform
