/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the profile of a running program for pprof: which calls allocate its memory.
 * Invariant: there is a profile only if GRANARY_PROFILE was set when the program started; otherwise nothing is counted.
 * Must not know: how samples are taken.
 */
#ifndef GRANARY_PROFILE_H
#define GRANARY_PROFILE_H

#include "granary/granary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a profile.proto, compressed with gzip, to the file `path`, which appears under its name when it is complete.
 * The profile has the memory allocated since the start (alloc_*), the part in use (inuse_*), and what was in use at the
 * moment when most bytes were (peak_*): estimates from samples. NULL chooses the name that the signal of
 * GRANARY_PROFILE would use: granary.PID.NUMBER.pb.gz in GRANARY_PROFILE_FOLDER. Does not allocate. In a signal handler
 * use that signal instead.
 * Returns 0, or -1 with errno = ENOTSUP if no profile is taken, EBUSY in a signal handler that interrupted the
 * allocator, or the kernel's error for the file. */
GR_EXPORT int gr_profile_dump(const char *path);

#ifdef __cplusplus
}
#endif

#endif
