// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that is hard to get into: by its first word it lets nobody trace it ("undumpable"), may make few system
//    calls ("strict"), ignores the signals of faults ("ignoring"), does nothing but allocate until SIGUSR1 comes ("busy"), or
//    is "plain". Then it makes the file of its second word, and waits for a byte from its standard input.
// Invariant: it prints "fine" where the byte came and the signals are ignored as before.
// Must not know: why it is guarded.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int kFaults[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
enum { kFaultCount = sizeof kFaults / sizeof kFaults[0], kStrict = 1 };

static int are_ignored(void) {
    for (int i = 0; i < kFaultCount; ++i) {
        struct sigaction now;
        if (sigaction(kFaults[i], NULL, &now) != 0 || now.sa_handler != SIG_IGN) return 0;
    }
    return 1;
}

static volatile sig_atomic_t has_come;
static void come(int signal) { has_come = signal; }

int main(int count, char **words) {
    if (count < 3) return 2;
    const int is_ignoring = strcmp(words[1], "ignoring") == 0;
    for (int i = 0; i < kFaultCount && is_ignoring; ++i) signal(kFaults[i], SIG_IGN);
    if (strcmp(words[1], "undumpable") == 0 && prctl(PR_SET_DUMPABLE, 0) != 0) return 3;
    const int is_busy = strcmp(words[1], "busy") == 0;
    if (is_busy) signal(SIGUSR1, come);
    const int file = open(words[2], O_CREAT | O_WRONLY | O_CLOEXEC, S_IRUSR);
    if (file < 0 || close(file) != 0) return 4;
    if (strcmp(words[1], "strict") == 0 && prctl(PR_SET_SECCOMP, kStrict) != 0) return 5;
    while (is_busy && !has_come) free(malloc(10));
    char byte = 0;
    if (read(0, &byte, 1) != 1 || (is_ignoring && !are_ignored()) || write(1, "fine\n", 5) != 5) return 6;
    syscall(SYS_exit, 0);  // all that a strict process may do
}
