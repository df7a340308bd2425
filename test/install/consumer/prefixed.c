/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What:      a C program that has Granary beside its malloc: it prints nothing and exits with 0 when each serves its names.
 * Invariant: gr_malloc's blocks are Granary's, malloc's are not.
 * Must not know: how it was linked.
 */
#include <granary/malloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *mine = gr_malloc(100);
    char *other = malloc(100);
    if (gr_version() != GR_VERSION) return fprintf(stderr, "version %u, header %d\n", gr_version(), GR_VERSION), 1;
    if (mine == NULL || !gr_owns(mine)) return fprintf(stderr, "gr_malloc's block is not ours\n"), 1;
    if (other == NULL || gr_owns(other)) return fprintf(stderr, "malloc's block is ours\n"), 1;
    mine = gr_realloc(mine, 100000);
    if (gr_resize_in_place(mine, 1, 1000) > 65536) return fprintf(stderr, "the block was not made smaller\n"), 1;
    gr_free(mine);
    free(other);
    return 0;
}
