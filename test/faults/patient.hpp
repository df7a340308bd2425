// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that lives with refusals: it allocates in every way, keeps what it gets, checks all contents.
// Invariant: a refusal is NULL and ENOMEM and leaves the old block as it was; anything else ends the program.
// Must not know: why memory is refused.
#pragma once

#include <malloc.h>

#include <array>
#include <utility>

#include "pattern.hpp"
#include "require.hpp"
#include "sizes.hpp"

namespace gr::test {

class Patient {
  public:
    explicit Patient(uint64_t seed) : random_(seed) {}
    Patient(const Patient &) = delete;
    Patient &operator=(const Patient &) = delete;
    ~Patient() { free_all(); }

    // One random operation on one of the places, with a size from the first `sizes` of the table.
    void step(size_t sizes) {
        Held &held = places_[random_.below(places_.size())];
        const size_t size = kSizes[random_.below(sizes)];
        if (held.block != nullptr && random_.below(4) == 0)
            resize(held, size);
        else
            replace(held, size);
    }

    void churn(size_t turns, size_t sizes) {
        for (size_t turn = 0; turn < turns; ++turn) step(sizes);
    }

    void free_all() {
        for (Held &held : places_) release(held);
    }

    uint64_t refusals() const { return refusals_; }

  private:
    struct Held {
        void *block = nullptr;
        size_t size = 0;
    };

    // Whether memory was granted; if not, the reason must be the one the standard names.
    bool granted(const void *block, size_t size) {
        if (block != nullptr) return true;
        if (errno != ENOMEM) fail("a request of %zu bytes was refused with errno %d, expected ENOMEM", size, errno);
        ++refusals_;
        return false;
    }

    void replace(Held &held, size_t size) {
        release(held);
        errno = 0;
        void *block = request(size);
        if (granted(block, size)) keep(held, block, size);
    }

    void *request(size_t size) {
        switch (random_.below(4)) {
            case 0:
                return zeroed(size);
            case 1:
                return std::aligned_alloc(size_t{16} << random_.below(14), size);
            default:
                return std::malloc(size);
        }
    }

    static size_t scan_step(size_t size) { return size <= kLargestClass ? 1 : size <= (size_t{1} << 20) ? 509 : 65537; }

    static void *zeroed(size_t size) {
        auto *bytes = static_cast<unsigned char *>(std::calloc(1, size));
        for (size_t offset = 0; bytes != nullptr && offset < size; offset += scan_step(size))
            if (bytes[offset] != 0) fail("calloc(1, %zu): byte %zu of %p is not zero", size, offset, bytes);
        return bytes;
    }

    void resize(Held &held, size_t size) {
        check(held);
        errno = 0;
        void *block = std::realloc(held.block, size);
        if (granted(block, size)) keep(held, block, size);
    }

    static void keep(Held &held, void *block, size_t size) {
        held = {block, size};
        Pattern(block, size, 0).write(block);
    }

    static void check(const Held &held) {
        if (!Pattern(held.block, held.size, 0).matches(held.block))
            fail("block %p of %zu bytes: contents changed", held.block, held.size);
    }

    static void release(Held &held) {
        if (held.block == nullptr) return;
        check(held);
        errno = kErrnoMark;
        std::free(std::exchange(held.block, nullptr));
        if (errno != kErrnoMark) fail("free: changed errno to %d", errno);
    }

    static constexpr int kErrnoMark = 1234;
    Random random_;
    std::array<Held, 96> places_ = {};
    uint64_t refusals_ = 0;
};

// Whether a block of every size can be had now, one after the other.
inline bool every_size_is_granted() {
    for (const size_t size : kSizes) {
        void *block = std::malloc(size);
        if (block == nullptr) return false;
        const Pattern pattern(block, size, 0);
        pattern.write(block);
        const bool intact = pattern.matches(block);
        std::free(block);
        if (!intact) fail("block %p of %zu bytes: contents changed", block, size);
    }
    return true;
}

}  // namespace gr::test
