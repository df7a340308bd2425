// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program with a malloc of its own, which asks the kernel for its memory while it holds its lock, and does so before
//    any library has begun.
// Invariant: the lock is not recursive: who calls this malloc out of it waits for ever. The word says how it asks: "mmap" or
//    "brk".
// Must not know: who records it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kBytes = 1 << 20, kAlignment = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *at;
static char *end;
static int asks_by_brk;

static void *take(size_t bytes) {
    pthread_mutex_lock(&lock);
    if (at == NULL) {
        at =
            asks_by_brk ? sbrk(kBytes) : mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        end = at + kBytes;
    }
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    char *const block = (size_t)(end - at) < bytes ? NULL : at;
    if (block != NULL) at += bytes;
    pthread_mutex_unlock(&lock);
    return block;
}

void *malloc(size_t bytes) { return take(bytes); }
void *calloc(size_t count, size_t bytes) { return take(count * bytes); }  // fresh memory only
void free(void *block) { (void)block; }
void *realloc(void *block, size_t bytes) {
    char *const other = take(bytes);
    const size_t there = block == NULL ? 0 : (size_t)(end - (char *)block);
    if (other != NULL) memmove(other, block, there < bytes ? there : bytes);
    return other;
}

static void begin(int count, char **words, char **environment) {
    (void)environment;
    asks_by_brk = count > 1 && strcmp(words[1], "brk") == 0;
    if (malloc(1) == NULL) _exit(1);
}
__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(int, char **, char **) = begin;

int main(void) {
    puts("fine");
    return 0;
}
