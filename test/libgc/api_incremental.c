/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: when collections are incremental: asked for, forbidden, refused by the kernel.
 * Invariant: the mode tells the truth; a collection that was started ends, and what it found dead is free; where the
 *    kernel refuses there is one warning, and each collection stops the program.
 * Must not know: how writes are seen.
 */
#include <errno.h>
#include <gc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "check.h"

enum { kNodes = 20000 };
struct node {
    struct node *next;
    uintptr_t number;
};
static struct node *list;
static int warnings, finalized;

static void warn(char *message, GC_word argument) {
    (void)message, (void)argument;
    ++warnings;
}
static void finalize(void *object, void *data) {
    (void)object, (void)data;
    ++finalized;
}

NOINLINE static void fill(void) {
    list = NULL;
    for (uintptr_t i = 0; i < kNodes; ++i) {
        struct node *node = GC_MALLOC(sizeof *node);
        node->next = list;
        node->number = i;
        list = node;
        GC_register_finalizer(GC_MALLOC(16), finalize, NULL, NULL, NULL);
    }
}

static void expect_list(void) {
    uintptr_t wanted = kNodes;
    for (struct node *node = list; node != NULL; node = node->next)
        CHECK(node->number == --wanted, "node %lu is not there", (unsigned long)wanted);
    CHECK(wanted == 0, "the list ends at %lu", (unsigned long)wanted);
}

static void finish(void) {
    GC_start_incremental_collection();
    while (GC_collect_a_little()) continue;
}

/* Goes round until a whole one has begun and ended: one that was started may have found the other under way. */
static void collect_beside(void) {
    GC_word before = GC_get_gc_no();
    while (GC_get_gc_no() < before + 2) finish();
}

static void is_on(void) {
    setenv("GC_ENABLE_INCREMENTAL", "1", 1);
    GC_INIT();
    if (!GC_is_incremental_mode()) not_available("a kernel that tells of writes");
    CHECK(GC_incremental_protection_needs() == 0, "the program is told to take care");
    fill();
    collect_beside();
    expect_list();
    GC_MALLOC(16); /* finalizers run in a thread of the program's that allocates */
    for (int i = 0; i < 10000 && finalized == 0; ++i) GC_MALLOC(2000);
    CHECK(finalized > kNodes / 2, "%d of %d were finalized", finalized, kNodes);
    GC_word before = GC_get_gc_no();
    for (int i = 0; i < 2000000; ++i) GC_MALLOC(64); /* what is due, too */
    CHECK(GC_get_gc_no() > before, "nothing was collected");
    GC_disable();
    finish();
    before = GC_get_gc_no();
    finish();
    CHECK(GC_get_gc_no() == before, "a collection while it is disabled");
    GC_enable();
    GC_gcollect();
    /* One that was started while it was disabled may be heard of only now. */
    GC_word more = GC_get_gc_no() - before;
    CHECK(more == 1 || more == 2, "an explicit collection counts as %lu", (unsigned long)more);
    expect_list();
}

static void is_asked_for(void) {
    GC_INIT();
    CHECK(!GC_is_incremental_mode(), "incremental before it was asked for");
    GC_word before = GC_get_gc_no();
    finish();
    CHECK(GC_get_gc_no() == before, "one was started without the mode");
    GC_enable_incremental();
    if (!GC_is_incremental_mode()) not_available("a kernel that tells of writes");
    fill();
    collect_beside();
    expect_list();
}

static void is_forbidden(void) {
    setenv("GC_DISABLE_INCREMENTAL", "1", 1);
    GC_enable_incremental();
    CHECK(!GC_is_incremental_mode() && GC_is_init_called(), "GC_DISABLE_INCREMENTAL does not count");
}

static void is_refused(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        not_available("a sandbox");
    GC_INIT();
    GC_set_warn_proc(warn);
    GC_enable_incremental();
    GC_enable_incremental();
    CHECK(!GC_is_incremental_mode(), "the mode is on, although the kernel refuses");
    CHECK(warnings == 1, "%d warnings", warnings);
    GC_word before = GC_get_gc_no();
    fill();
    for (int i = 0; i < 1000000; ++i) GC_MALLOC(64);
    CHECK(GC_get_gc_no() > before, "nothing was collected");
    expect_list();
}

int main(void) {
    exit_on_bdwgc("incremental collection without signals");
    run_apart("on", is_on);
    run_apart("asked for", is_asked_for);
    run_apart("forbidden", is_forbidden);
    run_apart("refused", is_refused);
    return 0;
}
