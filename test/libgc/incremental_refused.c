/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a filter of system calls that comes after incremental mode was turned on: no more ioctl.
 * Invariant: garbage is still collected, and the heap stays small.
 * Must not know: which calls tell a collector what is written.
 */
#include <errno.h>
#include <gc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "check.h"

enum { kBlock = 48, kCell = 1000 };

static void *volatile kept;

static void forbid_ioctl(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {.len = sizeof rules / sizeof rules[0], .filter = rules};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS is refused");
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0,
          "a filter of system calls is refused");
}

int main(void) {
    GC_INIT();
    GC_enable_incremental();
    forbid_ioctl();
    const GC_word before = GC_get_gc_no();
    for (long i = 0; i < 8000000; ++i) {
        void **block = GC_malloc(kBlock);
        CHECK(block != NULL, "no memory");
        *block = i % kCell != 0 ? kept : NULL;
        kept = block;
    }
    CHECK(GC_get_gc_no() > before, "nothing was collected");
    CHECK(GC_get_heap_size() < 100u << 20, "the heap grew to %zu bytes", GC_get_heap_size());
    return 0;
}
