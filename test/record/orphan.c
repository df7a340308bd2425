// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that leaves a grandchild behind, which closes all descriptors and calls malloc when a file is there.
// Invariant: the grandchild allocates kBlocks blocks of kSize bytes, and nothing before.
// Must not know: who records it.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBlocks = 7777, kSize = 200, kDescriptors = 4096 };

static void *volatile kept;

int main(int count, char **words) {
    if (count < 2) return 2;
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            for (int i = 0; i < kDescriptors; ++i) close(i);
            while (access(words[1], F_OK) != 0) usleep(1000);
            for (int i = 0; i < kBlocks; ++i) kept = malloc(kSize);
            exit(0);
        }
        _exit(0);
    }
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}
