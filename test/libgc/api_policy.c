/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: gr_gc_set_policy and GRANARY_GC_POLICY: the policy that was chosen is the one by which collections become due.
 * Invariant: numbers of collections only, which do not depend on time. Skipped on a library without policies.
 * Must not know: what a policy computes.
 */
#include <errno.h>
#include <gc.h>

#include "check.h"

enum { kMiB = 1 << 20 };

static int (*set_policy)(const char *name);
static void *volatile last;
static void **volatile kept;

static NOINLINE void keep(size_t bytes) {
    for (size_t i = 0; i < bytes / kMiB; ++i) {
        void **o = GC_MALLOC(kMiB - 1);
        *o = (void *)kept;
        kept = o;
    }
}

/* After a peak of 100 MiB: of 64 MiB that nothing refers to. */
static GC_word collections_after_a_peak(void) {
    keep(100 * kMiB);
    GC_gcollect();
    kept = NULL;
    clear_stack();
    GC_gcollect();
    GC_word before = GC_get_gc_no();
    for (size_t i = 0; i < 64 * kMiB / 64; ++i) last = GC_MALLOC(63);
    return GC_get_gc_no() - before;
}

static int is_proportional(void) { return collections_after_a_peak() >= 2; }
static int is_growable(void) { return collections_after_a_peak() == 0; }
static int becomes_growable(void) {
    CHECK(set_policy("growable") == 0, "there is no policy growable");
    return is_growable();
}
static int becomes_fixed(void) {
    CHECK(set_policy("fixed") == 0, "there is no policy fixed");
    GC_gcollect();
    GC_word before = GC_get_gc_no();
    keep(100 * kMiB);
    return GC_get_gc_no() - before >= 5;
}
static int is_known(void) {
    CHECK(set_policy("square-root") == 0 && set_policy("proportional") == 0, "a policy is not known");
    for (int i = 0; i < 3; ++i) {
        const char *const wrong[] = {"", "Growable", NULL};
        errno = 0;
        CHECK(set_policy(wrong[i]) == -1 && errno == EINVAL, "a policy that does not exist was accepted");
    }
    return is_proportional();
}

static const struct {
    const char *policy;
    int (*holds)(void);
    const char *what;
} cases[] = {{"proportional", is_proportional, "GRANARY_GC_POLICY=proportional"},
             {"growable", is_growable, "GRANARY_GC_POLICY=growable"},
             {"proportional", becomes_growable, "gr_gc_set_policy(\"growable\")"},
             {"proportional", becomes_fixed, "gr_gc_set_policy(\"fixed\")"},
             {"growable", is_known, "gr_gc_set_policy(\"proportional\")"}};

int main(void) {
    *(void **)&set_policy = dlsym(RTLD_DEFAULT, "gr_gc_set_policy");
    if (set_policy == NULL) return 77;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        pid_t child = fork();
        if (child == 0) {
            setenv("GRANARY_GC_POLICY", cases[i].policy, 1);
            GC_INIT();
            _exit(cases[i].holds() ? 0 : 1);
        }
        int status;
        CHECK(child > 0 && waitpid(child, &status, 0) == child, "no process");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s has not the effect that it should have",
              cases[i].what);
    }
    return 0;
}
