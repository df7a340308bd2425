/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What:      the profile of a running program: which calls its memory comes from, for pprof.
 * Invariant: it is there where GRANARY_PROFILE asked for it when the program started, and costs nothing where not.
 * Must not know: how samples are taken.
 */
#ifndef GRANARY_PROFILE_H
#define GRANARY_PROFILE_H

#include "granary/granary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a profile.proto in gzip's container to the file, which is there when it is whole: what has been allocated since
 * the program started (alloc_*), what of it is live (inuse_*), and what was live when most bytes were (peak_*). NULL
 * chooses a name as GRANARY_PROFILE's signal does: granary.PID.NUMBER.pb.gz in GRANARY_PROFILE_FOLDER.
 * Returns 0, or -1 and errno: ENOTSUP where no profile is taken, EBUSY in a signal handler that interrupted the allocator,
 * else what the kernel says of the file. Does not allocate. In a signal handler use GRANARY_PROFILE's own. */
GR_EXPORT int gr_profile_dump(const char *path);

#ifdef __cplusplus
}
#endif

#endif
