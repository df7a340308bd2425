/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: marks of the program itself in the trace that `granary record` writes: gr_mark("phase 2").
 * Invariant: a program that includes this header needs no library. Without a recorder a mark only tests one word.
 * Must not know: who records, and where marks go.
 */
#ifndef GRANARY_MARK_H
#define GRANARY_MARK_H

/* The recorder's function, or NULL if the recorder is not preloaded. The address is read from the global offset table
 * by hand: in a program that is linked at a fixed address, compilers write a weak address into the code, where it stays
 * 0. */
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

/* Writes a mark with the text, of which up to 1000 bytes are copied. Any thread may call it. */
static inline void gr_mark(const char *text) {
    gr_mark_function *const mark = gr_record_mark_if_there();
    if (mark) mark(text);
}

#endif
