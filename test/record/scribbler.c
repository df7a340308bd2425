/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a program that writes numbers of its own choice over all that it shares with its recorder, while its threads allocate:
 *    scribbler SEED WORDS.
 * Invariant: the same seed chooses the same places and numbers; it ends, by itself or by an alarm.
 * Must not know: what lies where.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 3, kCalls = 5000, kSeconds = 2, kNear = 1 << 20 };

static uint64_t state;

static uint64_t next_number(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

static void *allocate(void *unused) {
    (void)unused;
    for (int i = 0; i < kCalls; ++i) free(malloc((size_t)(i % 500)));
    return NULL;
}

static uint64_t *find_shared(size_t *words) {
    char line[512];
    FILE *const maps = fopen("/proc/self/maps", "r");
    uint64_t *found = NULL;
    while (maps != NULL && found == NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin = 0;
        unsigned long end = 0;
        if (strstr(line, "granary-recording") == NULL || sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
        found = (uint64_t *)begin;
        *words = (end - begin) / sizeof *found;
    }
    if (maps != NULL) fclose(maps);
    return found;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    state = strtoull(words[1], NULL, 10) * 7919 + 13;
    size_t all = 0;
    pthread_t threads[kThreads];
    free(malloc(1));
    volatile uint64_t *const shared = find_shared(&all);
    if (shared == NULL) return 3;
    alarm(kSeconds); /* who waits for a word that was written over waits for ever */
    for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, allocate, NULL);
    for (long i = strtol(words[2], NULL, 10); i > 0; --i) {
        const uint64_t range = next_number() % 3 != 0 ? 2048 : next_number() % 2 != 0 ? kNear : all;
        volatile uint64_t *const word = &shared[next_number() % range];
        if (*word == 0 && next_number() % 8 != 0) continue;
        const uint64_t numbers[] = {0,         1,          UINT64_MAX, next_number(),
                                    *word + 1, *word << 8, UINT32_MAX, *word ^ UINT64_C(1) << next_number() % 64};
        *word = numbers[next_number() % 8];
        if (i % 16 == 0) free(malloc(10));
    }
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
    return 0;
}
