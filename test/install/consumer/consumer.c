/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a C program on Granary: it prints nothing and exits with 0 when its malloc is ours.
 * Invariant: malloc, and a libc function that allocates, both give blocks that gr_owns; a heap's are its own.
 * Must not know: how it was linked.
 */
#define _GNU_SOURCE
#include <granary/granary.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    char *mine = malloc(100);
    char *libcs = strdup("a string");
    if (gr_version() != GR_VERSION) return fprintf(stderr, "version %u, header %d\n", gr_version(), GR_VERSION), 1;
    if (!gr_owns(mine) || !gr_owns(libcs)) return fprintf(stderr, "a block is not ours\n"), 1;
    free(mine);
    free(libcs);
    gr_heap *heap = gr_heap_new(0);
    mine = heap == NULL ? NULL : gr_heap_malloc(heap, 100);
    if (mine == NULL || gr_owns(mine)) return fprintf(stderr, "a heap's block is not the heap's\n"), 1;
    gr_heap_free(heap, mine);
    gr_heap_destroy(heap);
    const pid_t child = fork();
    if (child == 0) _exit(gr_owns(mine = malloc(5000)) ? 0 : 1);
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child) return perror("fork"), 1;
    return status == 0 ? 0 : 1;
}
