// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a tiny program that says which malloc it runs on: one line "key=value" for each thing it can find out.
//    The files that its calls are bound to, and the answers of allocators that can be asked about their
//    version, their mode, and whether a block just got from malloc is theirs.
// Invariant: links no allocator; asks only those whose functions the loader finds.
// Must not know: which answers are the right ones.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t kBlockSize = 200;

static void tell_number(const char *key, long number) { printf("%s=%ld\n", key, number); }

static void *find(const char *function) { return dlsym(RTLD_DEFAULT, function); }

// An answer of the form int f(void), such as a version.
static void ask_number(const char *function) {
    int (*const question)(void) = (int (*)(void))find(function);
    if (question) tell_number(function, question());
}

// An answer of the form int f(const void *block), such as whose it is.
static void ask_about(const char *function, const void *block) {
    int (*const question)(const void *) = (int (*)(const void *))find(function);
    if (question) tell_number(function, question(block));
}

static void tell_providers(void) {
    const struct {
        const char *name;
        void *address;
    } calls[] = {
        {"malloc", (void *)malloc},
        {"calloc", (void *)calloc},
        {"realloc", (void *)realloc},
        {"free", (void *)free},
        {"memalign", (void *)memalign},
        {"aligned_alloc", (void *)aligned_alloc},
        {"posix_memalign", (void *)posix_memalign},
        {"malloc_usable_size", (void *)malloc_usable_size},
    };
    for (size_t number = 0; number < sizeof calls / sizeof *calls; ++number) {
        Dl_info found;
        if (dladdr(calls[number].address, &found)) printf("file of %s=%s\n", calls[number].name, found.dli_fname);
    }
}

static void ask_libc(void) {
    printf("gnu_get_libc_version=%s\n", gnu_get_libc_version());
    char *text = NULL;
    size_t size = 0;
    FILE *const memory = open_memstream(&text, &size);
    if (!memory) return;
    const int failed = malloc_info(0, memory);
    fclose(memory);
    const char *const version = failed ? NULL : strstr(text, "version=\"");
    if (version) {
        const char *const first = version + strlen("version=\"");
        printf("malloc_info version=%.*s\n", (int)strcspn(first, "\""), first);
    }
    free(text);
}

static void ask_mimalloc(const void *block) {
    ask_number("mi_version");
    _Bool (*const is_ours)(const void *) = (_Bool(*)(const void *))find("mi_is_in_heap_region");
    if (is_ours) tell_number("mi_is_in_heap_region", is_ours(block));
}

static void ask_jemalloc(void) {
    int (*const mallctl)(const char *, void *, size_t *, void *, size_t) =
        (int (*)(const char *, void *, size_t *, void *, size_t))find("mallctl");
    if (!mallctl) return;
    const char *version = NULL;
    size_t size = sizeof version;
    if (mallctl("version", &version, &size, NULL, 0) == 0) printf("mallctl version=%s\n", version);
    uint64_t before = 0;
    uint64_t after = 0;
    size = sizeof before;
    mallctl("thread.allocated", &before, &size, NULL, 0);
    void *const block = malloc(kBlockSize);
    mallctl("thread.allocated", &after, &size, NULL, 0);
    tell_number("mallctl thread.allocated counts", after - before >= kBlockSize);
    free(block);
}

static void ask_gperftools(const void *block) {
    const char *(*const tc_version)(int *, int *, const char **) =
        (const char *(*)(int *, int *, const char **))find("tc_version");
    if (tc_version) printf("tc_version=%s\n", tc_version(NULL, NULL, NULL));
    ask_about("MallocExtension_GetOwnership", block);
}

static void ask_tcmalloc(const void *block) {
    _Bool (*const active)(void) = (_Bool(*)(void))find("MallocExtension_Internal_GetPerCpuCachesActive");
    if (active) tell_number("MallocExtension_Internal_GetPerCpuCachesActive", active());
    ask_about("MallocExtension_Internal_GetOwnership", block);
}

// snmalloc knows where a block ends from any pointer into it.
static void ask_snmalloc(char *block) {
    char *(*const end_of)(const void *) = (char *(*)(const void *))find("__malloc_end_pointer");
    if (end_of) tell_number("__malloc_end_pointer", end_of(block + 1) == block + malloc_usable_size(block));
}

// Of rpmalloc 1's configuration only the place of the span size matters: after four functions and the page size.
static void ask_rpmalloc(void) {
    const struct {
        void *functions[4];
        size_t page_size;
        size_t span_size;
    } * (*const configuration)(void) = find("rpmalloc_config");
    if (configuration) tell_number("rpmalloc_config span_size", (long)configuration()->span_size);
    ask_number("rpmalloc_is_thread_initialized");
}

int main(void) {
    char *const block = malloc(kBlockSize);
    if (!block) return EXIT_FAILURE;
    tell_providers();
    ask_libc();
    ask_mimalloc(block);
    ask_jemalloc();
    ask_gperftools(block);
    ask_tcmalloc(block);
    ask_snmalloc(block);
    ask_rpmalloc();
    free(block);
    return EXIT_SUCCESS;
}
