/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a random number and the time, for programs whose steps are measured.
 * Invariant: the numbers are the same in each run.
 * Must not know: what a step does.
 */
#ifndef BENCH_COLLECTOR_STEPS_H
#define BENCH_COLLECTOR_STEPS_H

#include <stdint.h>
#include <time.h>

static uint64_t random_state = 1;

static uint64_t next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}

/* Seconds. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
