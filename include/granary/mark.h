/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What:      a program's own marks in what `granary record` writes: gr_mark("phase 2").
 * Invariant: a program that includes it needs no library; where nobody records it, a mark is a test of a word.
 * Must not know: who records, and where marks go.
 */
#ifndef GRANARY_MARK_H
#define GRANARY_MARK_H

/* The recorder's, which is there when it was preloaded. The address is taken from the table of global addresses by hand, for
 * in a program that is linked at a fixed place compilers write a weak address into the code, where it stays 0. */
typedef void gr_mark_function(const char *text); /* NOLINT(modernize-use-using): C */
static inline gr_mark_function *gr_record_mark_if_there(void) {
    gr_mark_function *mark;
#if defined(__x86_64__)
    __asm__(".weak gr_record_mark\n\tmovq gr_record_mark@GOTPCREL(%%rip), %0" : "=r"(mark));
#elif defined(__aarch64__)
    __asm__(".weak gr_record_mark\n\tadrp %0, :got:gr_record_mark\n\tldr %0, [%0, :got_lo12:gr_record_mark]"
            : "=r"(mark));
#else
    mark = 0;
#endif
    return mark;
}

/* The text is copied, up to 1000 bytes of it. */
static inline void gr_mark(const char *text) {
    gr_mark_function *const mark = gr_record_mark_if_there();
    if (mark) mark(text);
}

#endif
