// SPDX-License-Identifier: Apache-2.0 OR MIT
// Written for glibc. Reads only what the kernel says is mapped, until it is known to be there.
#include "platform/world/thread_record.hpp"

#include <link.h>
#include <pthread.h>

#include <cstring>

#include "base/config.hpp"
#include "platform/loader.hpp"
#include "platform/thread.hpp"
#include "platform/world/mappings.hpp"

namespace gr::platform {
namespace {

// An entry of the vector of a thread's blocks of thread-local variables. The index is the number of the module; the
// entry before the first holds the count.
struct VectorEntry {
    union {
        std::uintptr_t count;
        const char *block;
    };
    void *allocated;
};
const char *const kNotAllocated = reinterpret_cast<const char *>(-1);

#if defined(__x86_64__)
constexpr std::size_t kVectorOffset = 8;
constexpr std::size_t kRecordBefore = 0;  // the record begins at the thread pointer
constexpr std::size_t kStaticBefore = 1;  // thread-local variables end there; the loader's size includes the record
constexpr std::size_t kRecordIncluded = 1;
#else
constexpr std::size_t kVectorOffset = 0;
constexpr std::size_t kRecordBefore = 1;  // the record ends there; the two words of the thread control block follow
constexpr std::size_t kStaticBefore = 0;  // thread-local variables begin there, with these two words
constexpr std::size_t kRecordIncluded = 0;
#endif

constexpr std::size_t kLikelyRecordBytes = 2304;

// false: a part cannot be read. Uses /proc, which stops need as well: a sandbox may forbid the calls that copy memory.
bool copy_if_readable(const MappingTable &mappings, void *to, const void *from, std::size_t bytes) {
    const Mapping mapping = mappings.of(from);
    if (!mapping.readable || static_cast<std::size_t>(mapping.end - static_cast<const char *>(from)) < bytes)
        return false;
    std::memcpy(to, from, bytes);
    return true;
}

const VectorEntry *vector_of(std::uintptr_t thread_pointer) {
    return *reinterpret_cast<const VectorEntry *const *>(thread_pointer + kVectorOffset);
}

}  // namespace

void ThreadRecords::initialise() {
    find_record();
    find_static_thread_locals();
    MappingTable mappings;
    find_keys(&mappings);
    if (mappings.read()) try_thread_locals(mappings);
    mappings.release();
}

// libc tells debuggers the size of the record.
void ThreadRecords::find_record() {
    const auto *const told = static_cast<const std::uint32_t *>(program_symbol("_thread_db_sizeof_pthread"));
    record_bytes_ = told == nullptr ? kLikelyRecordBytes : *told;
}

Range ThreadRecords::record(std::uintptr_t thread_pointer) const {
    const auto *const begin = reinterpret_cast<const char *>(thread_pointer) - kRecordBefore * record_bytes_;
    return {begin, begin + record_bytes_};
}

// Beside the thread pointer the loader puts the variables of libraries that were loaded with the program, and of later
// ones that ask for this place. A thread's vector does not show the latter until the thread has used them. The loader
// tells libc how much of a stack to leave for all of these.
void ThreadRecords::find_static_thread_locals() {
    using Tell = void (*)(std::size_t * bytes, std::size_t * alignment);
    const auto tell = reinterpret_cast<Tell>(program_symbol("_dl_get_tls_static_info"));
    if (tell == nullptr) return;
    std::size_t bytes = 0;
    std::size_t alignment = 0;
    tell(&bytes, &alignment);
    if (bytes > kRecordIncluded * record_bytes_) static_bytes_ = bytes - kRecordIncluded * record_bytes_;
}

Range ThreadRecords::static_thread_locals(std::uintptr_t thread_pointer) const {
    const auto *const begin = reinterpret_cast<const char *>(thread_pointer) - kStaticBefore * static_bytes_;
    return {begin, begin + static_bytes_};
}

// Sets a value for a key of the second block, and searches every word of the record for a pointer to that block.
void ThreadRecords::find_keys(MappingTable *mappings) {
    pthread_key_t keys[kKeysPerBlock + 1];
    std::size_t made = 0;
    while (made <= kKeysPerBlock && pthread_key_create(&keys[made], nullptr) == 0) {
        if (keys[made++] >= kKeysPerBlock) break;
    }
    const pthread_key_t key = made == 0 ? 0 : keys[made - 1];
    if (key >= kKeysPerBlock && pthread_setspecific(key, this) == 0 && mappings->read()) {
        const Range all = record(thread_pointer());
        for (const char *at = all.begin; at < all.end; at += sizeof(void *)) {
            const KeyValue *block = nullptr;
            std::memcpy(&block, at, sizeof(void *));
            KeyValue found{};
            if (block == nullptr || !copy_if_readable(*mappings, &found, block + key % kKeysPerBlock, sizeof found))
                continue;
            if (found.value != this) continue;
            const std::size_t first = (key / kKeysPerBlock) * sizeof(void *);
            keys_offset_ = reinterpret_cast<std::uintptr_t>(at) - thread_pointer() - first;
            break;
        }
        pthread_setspecific(key, nullptr);
    }
    while (made != 0) pthread_key_delete(keys[--made]);
}

// The record describes the stack in three words: its begin with the guard, its length with the record, the guard's
// length.
Range ThreadRecords::stack(std::uintptr_t thread_pointer, const MappingTable &mappings) const {
    struct Place {
        std::uintptr_t begin;
        std::size_t bytes;
        std::size_t guard_bytes;
    };
    constexpr std::size_t kMostBehind = 64 * kKiB;  // after the thread pointer: the record, or thread-local variables
    constexpr std::size_t kMostGuard = kGiB;        // every address is larger
    const Range all = record(thread_pointer);
    const Mapping mapping = mappings.of(all.begin);
    if (!mapping.readable || mapping.end < all.end) return {};
    for (const char *at = all.begin; at + sizeof(Place) <= all.end; at += sizeof(void *)) {
        Place place{};
        std::memcpy(&place, at, sizeof place);
        const std::uintptr_t begin = place.begin + place.guard_bytes;
        const std::size_t before = thread_pointer - place.begin;
        const bool has_record = before < place.bytes && place.bytes - before < kMostBehind;
        const auto *const first = reinterpret_cast<const char *>(begin);
        if (has_record && place.guard_bytes < kMostGuard && mapping.contains(first) && begin < thread_pointer)
            return {first, reinterpret_cast<const char *>(thread_pointer)};
    }
    return {};
}

Range ThreadRecords::key_block(std::uintptr_t thread_pointer, std::size_t i) const {
    const char *begin = nullptr;
    std::memcpy(&begin, reinterpret_cast<const char *>(thread_pointer + keys_offset_) + i * sizeof begin, sizeof begin);
    return begin == nullptr ? Range{} : Range{begin, begin + kKeysPerBlock * sizeof(KeyValue)};
}

// The layout is as expected if the caller's blocks in the vector are those that the loader lists.
void ThreadRecords::try_thread_locals(const MappingTable &mappings) {
    struct Trial {
        const MappingTable *mappings;
        unsigned same = 0;
        unsigned other = 0;
    } trial{&mappings};
    dl_iterate_phdr(
        [](dl_phdr_info *info, std::size_t, void *context) {
            auto &t = *static_cast<Trial *>(context);
            if (info->dlpi_tls_data == nullptr) return 0;
            const VectorEntry *const vector = vector_of(thread_pointer());
            VectorEntry entry{};
            const bool readable = copy_if_readable(*t.mappings, &entry, vector + info->dlpi_tls_modid, sizeof entry);
            ++(readable && entry.block == info->dlpi_tls_data ? t.same : t.other);
            return 0;
        },
        &trial);
    knows_thread_locals_ = trial.same != 0 && trial.other == 0;
}

Range ThreadRecords::thread_local_block(std::uintptr_t thread_pointer, const TlsModule &module) const {
    if (!knows_thread_locals_) return {};
    const VectorEntry *const vector = vector_of(thread_pointer);
    if (vector == nullptr || module.number > vector[-1].count) return {};
    const char *const begin = vector[module.number].block;
    if (begin == nullptr || begin == kNotAllocated) return {};
    return {begin, begin + module.bytes};
}

}  // namespace gr::platform
