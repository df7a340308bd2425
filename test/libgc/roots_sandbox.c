/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: values of pthread keys in a sandbox that forbids to look into processes by system calls.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: where libc keeps them.
 */
#define GC_THREADS
#include <errno.h>
#include <gc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "watched.h"

enum { kKeys = 100 };
static pthread_key_t keys[kKeys];

static void put(int i, void *object) { CHECK(pthread_setspecific(keys[i], object) == 0, "pthread_setspecific failed"); }
static void clear(int i) { put(i, NULL); }

static void forbid(unsigned call) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        not_available("a sandbox");
}

int main(void) {
    exit_on_bdwgc("values of pthread keys");
    forbid(SYS_process_vm_readv);
    GC_INIT();
    for (int i = 0; i < kKeys; ++i) CHECK(pthread_key_create(&keys[i], NULL) == 0, "no key");
    check_place(&(struct place){.what = "keys beyond 32", .put = put, .clear = clear, .first = kKeys - kPlaces});
    return 0;
}
