/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the profile of a running program for pprof: which calls allocate its memory.
 * Invariant: nothing is counted until GRANARY_PROFILE, when the program starts, or gr_profile_start says so.
 * Must not know: how samples are taken.
 */
#ifndef GRANARY_PROFILE_H
#define GRANARY_PROFILE_H

#include "granary/granary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Any thread may call these functions at any time, also in the child after fork(2), which goes on with the profile of its
 * parent. A signal handler must not call them: in a handler that interrupted the allocator they fail with EBUSY. Each
 * returns 0, or -1 with errno set. */

/* Starts to sample the program's allocations, or goes on after gr_profile_stop: on average one block in every mean_bytes
 * bytes that are allocated, or each block for 1. 0 keeps the mean that the profile had, and means 512 KiB the first time.
 * A profile has one mean: if it had another one, everything that was sampled is forgotten, as by gr_profile_reset.
 * Blocks that the program allocated before are not in the profile. A request that another thread makes while this function
 * runs may stay uncounted. The first call takes some memory and addresses, which the process keeps.
 * errno = EINVAL if mean_bytes is more than 1 TiB. ENOTSUP if there can be no profile: a collector serves malloc; the
 * program runs under an RLIMIT_AS or RLIMIT_DATA of 32 GiB or less; the C library is older than glibc 2.35; or the
 * library's constructors have not run yet. ENOMEM if the kernel refuses memory. ENAMETOOLONG if the path in
 * GRANARY_PROFILE_FOLDER has 1024 characters or more. */
GR_EXPORT int gr_profile_start(size_t mean_bytes);

/* Takes no new samples. When it has returned, no block of a later request is sampled, and functions that allocate are as
 * fast as without a profile; realloc and the free of a large block still look for a sample. Sampled blocks that are in use
 * stay in the profile until they are freed.
 * errno = ENOTSUP if there never was a profile. */
GR_EXPORT int gr_profile_stop(void);

/* Forgets what was sampled: from now on the profile has only memory that is allocated after this call, and the peak since
 * this call. Whether samples are taken does not change.
 * errno = ENOTSUP if there never was a profile. */
GR_EXPORT int gr_profile_reset(void);

/* Writes a profile.proto, compressed with gzip, to the file `path`, which appears under its name when it is complete.
 * The profile has the memory allocated since it began or was last reset (alloc_*), the part in use (inuse_*), and what was
 * in use at the moment when most bytes were (peak_*): estimates from samples. NULL chooses the name that the signal of
 * GRANARY_PROFILE would use: granary.PID.NUMBER.pb.gz in GRANARY_PROFILE_FOLDER. Does not allocate. In a signal handler
 * use that signal instead.
 * errno = ENOTSUP if there never was a profile, EBUSY in a signal handler that interrupted the allocator, or the kernel's
 * error for the file. */
GR_EXPORT int gr_profile_dump(const char *path);

#ifdef __cplusplus
}
#endif

#endif
