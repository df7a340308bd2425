// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: memory from the kernel: reserve, commit, purge, huge pages, map (anywhere or at a place), remap, unmap.
// Invariant: no call changes errno; a failed call changes nothing the caller must undo.
// Must not know: units, superblocks, what the memory is used for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

// Bytes; a power of two, read from the auxiliary vector.
std::size_t page_size();

// Address space that may not be touched yet, is not charged and is not written into a core file; nullptr when the
// kernel refuses.
void *reserve(std::size_t bytes);

// An address so many bytes below or above the place where the kernel puts mappings now; nullptr: there is none. Neither
// call reserves anything, and above there may be no room.
char *far_below_mappings(std::size_t bytes);
char *far_above_mappings(std::size_t bytes);

// Whether nothing is mapped in this page-aligned range. The answer holds for this moment.
bool is_unmapped(void *address, std::size_t bytes);

enum class Access : std::uint8_t { read, write };
// Maps zeroed memory at a page-aligned place where nothing is mapped. Memory that can only be read is not written into
// a core file. false: refused, or something is mapped there; nothing changed.
bool map_at(void *address, std::size_t bytes, Access access);

// Unmaps the range. From then on other code may map something there. false: refused, nothing changed.
bool unmap_at(void *address, std::size_t bytes);

// Makes a page-aligned part of a reservation readable, writable and zero. false: refused, nothing changed.
bool commit(void *address, std::size_t bytes);

// Replaces a page-aligned part of what map_at made readable by zeroed memory that can be written. It does not use
// mprotect, which a sandbox may forbid. The place must be far from where the kernel puts mappings, because nothing is
// mapped there for a moment when the kernel refuses. false: refused, the part can be read as before.
bool make_writable_at(void *address, std::size_t bytes);

// Makes a part of a reservation readable as zeroes, without charging or filling it. false: refused, nothing changed.
bool make_readable(void *address, std::size_t bytes);

// Returns pages that can be written to the OS; they read as zero afterwards. false: refused, the contents are unknown,
// but nothing was unmapped.
bool purge(void *address, std::size_t bytes);

// Lets the kernel take the pages, one by one, when memory is short. A page that is written to stays. Until then each
// page reads as zero or as it was. false: refused, nothing changed.
bool free_lazily(void *address, std::size_t bytes);

// Whether core files contain the range, for memory that map_at or commit has made writable. Such memory is in core files
// until it is left out. If the kernel refuses, nothing changes.
enum class InCoreFiles : bool { no, yes };
bool set_in_core_files(void *address, std::size_t bytes, InCoreFiles wanted);

// Lets the kernel use huge pages there whenever it finds them useful, or forbids them. A kernel without them ignores
// this.
void allow_huge_pages(void *address, std::size_t bytes, bool allowed);

// Makes a huge page of committed memory. The contents stay, and absent pages become zero.
enum class Collapse : std::uint8_t { done, not_now, impossible };
Collapse collapse(void *address, std::size_t bytes);

// A new mapping of zeroed memory at a multiple of `alignment`, a power of two; nullptr when refused.
void *map(std::size_t bytes, std::size_t alignment);

// Grows, shrinks or moves what map returned. nullptr: refused, the old mapping stays.
void *remap(void *address, std::size_t old_bytes, std::size_t new_bytes);

// Grows or shrinks what map returned, without moving it. false: refused, nothing changed.
bool remap_in_place(void *address, std::size_t old_bytes, std::size_t new_bytes);

// Unmaps a mapping or a part of it. If the kernel refuses (its mapping table is full), the pages are purged instead, so
// that only address space is lost. false: that was refused, too, and the memory is as it was.
bool unmap(void *address, std::size_t bytes);

}  // namespace gr::platform
