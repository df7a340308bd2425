// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: memory from the kernel: reserve, commit, purge, huge pages, map (anywhere or at a place), remap, unmap.
// Invariant: no call changes errno; a failed call changes nothing the caller must undo.
// Must not know: units, superblocks, who uses the memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

// Bytes; a power of two, read from the auxiliary vector.
std::size_t page_size();

// Address space that may not be touched yet, is not charged and is not written into a core file; nullptr when the kernel
// refuses.
void *reserve(std::size_t bytes);

// An address so many bytes below where the kernel puts mappings now, or above; nullptr: there is no such. Nothing is
// reserved, and above there may be no room.
char *far_below_mappings(std::size_t bytes);
char *far_above_mappings(std::size_t bytes);

// Nothing is mapped in this page-aligned range. The answer holds for this moment.
bool is_unmapped(void *address, std::size_t bytes);

enum class Access : std::uint8_t { read, write };
// Zeroed memory at a page-aligned place where there is none. What can only be read is not written into a core file.
// false: refused or taken by somebody, nothing changed.
bool map_at(void *address, std::size_t bytes, Access access);

// Ends what was mapped there; it may be somebody else's from then on. false: refused, nothing changed.
bool unmap_at(void *address, std::size_t bytes);

// Makes a page-aligned part of a reservation readable, writable and zero. false: refused, nothing changed.
bool commit(void *address, std::size_t bytes);

// Replaces a page-aligned part of what map_at made readable by zeroed memory that can be written, without mprotect, which
// a sandbox may forbid. The place must be far from where the kernel puts mappings, because nothing is mapped
// there for a moment when the kernel refuses. false: refused, the part can be read as before.
bool make_writable_at(void *address, std::size_t bytes);

// Makes a part of a reservation readable as zeroes, without charging or filling it. false: refused, nothing changed.
bool make_readable(void *address, std::size_t bytes);

// Gives the pages back; they read as zero afterwards. false: refused, contents unknown but still ours.
bool purge(void *address, std::size_t bytes);

// Lets the kernel take the pages when it is short of memory, one by one, until they are written to: each then reads as
// zero or as it was. false: refused, nothing changed.
bool free_lazily(void *address, std::size_t bytes);

// Whether huge pages may lie there whenever the kernel finds it fit, or never. What the kernel does not know it ignores.
void allow_huge_pages(void *address, std::size_t bytes, bool allowed);

// Makes a huge page of committed memory, contents kept, what was absent zero.
enum class Collapse : std::uint8_t { done, not_now, impossible };
Collapse collapse(void *address, std::size_t bytes);

// Zeroed memory of its own at a multiple of `alignment`, a power of two; nullptr when refused.
void *map(std::size_t bytes, std::size_t alignment);

// Grows, shrinks or moves what map returned; nullptr when refused, the old mapping stands.
void *remap(void *address, std::size_t old_bytes, std::size_t new_bytes);

// Grows or shrinks it where it lies. false: refused, nothing changed.
bool remap_in_place(void *address, std::size_t old_bytes, std::size_t new_bytes);

// Ends a mapping or a part of it. Where the kernel refuses (its mapping table is full) the pages are purged instead,
// so that only address space is lost. false: that was refused, too, and the memory is as it was.
bool unmap(void *address, std::size_t bytes);

}  // namespace gr::platform
