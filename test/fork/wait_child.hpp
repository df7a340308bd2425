// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: waits for fork's child and says why it did not end well.
// Invariant: returns only when the child exited with status 0.
// Must not know: what the child does.
#pragma once

#include "require.hpp"

#include <sys/wait.h>
#include <csignal>

namespace gr::test {

inline constexpr unsigned kHangSeconds = 300;  // far beyond what a loaded machine needs

inline void expect_child_success(pid_t child, unsigned round) {
    int status = 0;
    pid_t waited;
    do waited = waitpid(child, &status, 0);
    while (waited < 0 && errno == EINTR);
    if (waited < 0) fail("waitpid for child %u: %s", round, std::strerror(errno));
    if (WIFSIGNALED(status))
        fail("child %u: killed by signal %d (%s)%s", round, WTERMSIG(status), strsignal(WTERMSIG(status)),
             WTERMSIG(status) == SIGALRM ? ": it hung" : "");
    if (WEXITSTATUS(status) != 0) fail("child %u: exit status %d", round, WEXITSTATUS(status));
}

}  // namespace gr::test
