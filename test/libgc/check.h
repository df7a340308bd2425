/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: how a test of libgc says what is wrong, what is missing, and what only bdwgc gets wrong by its design.
 * Invariant: one line and exit code 1 on failure, 77 if something is not to be had, silence otherwise.
 * Must not know: which library it runs on, unless the environment says LIBGC_REFERENCE=1, or by LIBGC_FOLDER where the
 *    library must have come from. LIBGC_STATIC is defined where the library is linked into the program.
 */
#ifndef LIBGC_CHECK_H
#define LIBGC_CHECK_H

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, unused))
#define UNUSED __attribute__((unused))

/* _exit, since a failure may be seen inside a callback that holds the collector's lock. */
__attribute__((format(printf, 3, 4), noreturn, unused)) static void fail_at(const char *file, int line,
                                                                            const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *slash = strrchr(file, '/');
    fprintf(stderr, "%s:%d: %s\n", slash != NULL ? slash + 1 : file, line, text);
    _exit(1);
}

#define FAIL(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition, ...)                \
    do {                                     \
        if (!(condition)) FAIL(__VA_ARGS__); \
    } while (0)

__attribute__((noreturn, unused)) static void not_available(const char *what) {
    printf("not available: %s\n", what);
    exit(77);
}

/* In a process of its own, for what cannot be taken back. */
UNUSED static void run_apart(const char *what, void (*test)(void)) {
    pid_t child = fork();
    if (child == 0) {
        test();
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && (status == 0 || WEXITSTATUS(status) == 77), "%s: %x", what,
          (unsigned)status);
}

/* Clears what calls before left below the caller's frame. Each byte is written as a volatile one: gcc drops a memset of
 * an array that nobody reads. */
NOINLINE static void clear_stack(void) {
    volatile char room[80 << 10];
    for (size_t i = 0; i < sizeof room; ++i) room[i] = 0;
}

#ifndef LIBGC_STATIC
/* A search path that leads nowhere would test the installed library instead, and pass. */
__attribute__((constructor)) static void expect_library(void) {
    const char *folder = getenv("LIBGC_FOLDER");
    if (folder == NULL) return;
    char wanted[PATH_MAX], real[PATH_MAX];
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "GC_malloc");
    CHECK(symbol != NULL && dladdr(symbol, &info) != 0, "no GC_malloc");
    CHECK(realpath(folder, wanted) != NULL && realpath(info.dli_fname, real) != NULL, "%s is not there", folder);
    size_t length = strlen(wanted);
    CHECK(strncmp(real, wanted, length) == 0 && real[length] == '/', "runs on %s, not on the library in %s", real,
          wanted);
}
#endif

/* True where the original is known to lose objects, or cannot do it, and the original is what runs. */
UNUSED static int skip_on_bdwgc(const char *what) {
    const char *reference = getenv("LIBGC_REFERENCE");
    if (reference == NULL || strcmp(reference, "1") != 0) return 0;
    printf("SKIP-ON-BDWGC: %s\n", what);
    return 1;
}

/* For a program that has nothing else to test. */
UNUSED static void exit_on_bdwgc(const char *what) {
    if (skip_on_bdwgc(what)) exit(77);
}

UNUSED static int verbose(int argc, char **argv) {
    for (int i = 1; i < argc; ++i)
        if (strcmp(argv[i], "-v") == 0) return 1;
    return 0;
}

/* The nth argument that is no option, or a default: programs run short ones unless told otherwise. */
UNUSED static long argument(int argc, char **argv, int n, long otherwise) {
    for (int i = 1; i < argc; ++i)
        if (argv[i][0] != '-' && n-- == 0) return strtol(argv[i], NULL, 0);
    return otherwise;
}

/* The same numbers in each run (splitmix64). */
UNUSED static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

UNUSED static uint64_t next_random(uint64_t *state) { return mixed((*state)++); }

/* Overwrites what calls have left on the stack, so that it keeps nothing. */
NOINLINE static void scrub(void) {
    volatile char dead[32768];
    for (size_t i = 0; i < sizeof dead; ++i) dead[i] = 0;
}

#endif
