// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks that only a pointer in a packed structure points to, at each address that such a pointer may have, while
//    garbage is made and collected.
// Invariant: a block keeps its pattern as long as its pointer stands; the pointer stands nowhere else.
// Must not know: how the collector looks for words.
#include "black_box.hpp"

#include <sys/mman.h>

#include <initializer_list>
#include <iterator>

using namespace gr::black_box;

namespace {

constexpr std::size_t kBlock = 240;
constexpr std::size_t kWord = sizeof(void *);
constexpr unsigned char kPattern = 0x5a;
constexpr std::size_t kGarbage = std::size_t{128} << 20;
constexpr std::size_t kPage = 4096;

struct [[gnu::packed]] Tagged {
    char tag;
    void *pointer;
};
struct [[gnu::packed]] Buffer {
    void *pointer;
    int offset, length, capacity;
};

Tagged in_static[64];
thread_local Tagged in_thread_local[64];

[[gnu::noinline]] void *patterned() { return std::memset(opaque(std::malloc(kBlock)), kPattern, kBlock); }

[[gnu::noinline]] void put(char *at) {
    void *const block = patterned();
    std::memcpy(at, &block, kWord);
}

[[gnu::noinline]] void expect_pattern(const char *at, const char *place) {
    const unsigned char *block = nullptr;
    std::memcpy(&block, at, kWord);
    for (std::size_t i = 0; i < kBlock; ++i) {
        if (block[i] != kPattern)
            leave(1, "lost: %s, %zu behind a word\n", place, reinterpret_cast<std::uintptr_t>(at) % kWord);
    }
}

[[gnu::noinline]] void make_garbage() {
    Sequence sequence(1);
    for (std::size_t bytes = 0; bytes < kGarbage;) {
        const std::size_t size = 16 + sequence.below(1000);
        std::memset(opaque(std::malloc(size)), 0xa5, size);
        bytes += size;
    }
}

// visit(at) for one pointer's place in each 16 bytes of what is given, at each distance to a word in turn.
template <class Visit>
void for_each_place(char *begin, std::size_t bytes, Visit visit) {
    std::size_t distance = 0;
    for (std::size_t at = 0; at + 2 * kWord <= bytes; at += 2 * kWord) visit(begin + at + distance++ % (kWord + 1));
}

// In blocks of each size, the first and the last word too; and in large ones where a page or a part of it ends.
constexpr std::size_t kSizes[] = {16, 24, 32, 40, 48, 64, 100, 128, 500, 512, 520, 600, 1000, 5000, 70000, 300000};

template <class Visit>
void for_each_place_in_blocks(char *const (&blocks)[std::size(kSizes)], Visit visit) {
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
        if (kSizes[i] <= 1000) {
            for_each_place(blocks[i], kSizes[i], visit);
        } else {
            for (std::size_t part = 512; part < kSizes[i]; part += 512)
                visit(blocks[i] + part - kWord + 1 + part / 512 % 7);
        }
    }
}

}  // namespace

int main() {
    require_granary();
    static char *blocks[std::size(kSizes)];
    for (std::size_t i = 0; i < std::size(kSizes); ++i) blocks[i] = static_cast<char *>(std::calloc(1, kSizes[i]));
    for_each_place_in_blocks(blocks, put);
    auto **const buffers = static_cast<Buffer **>(std::malloc(sizeof(Buffer *)));
    *buffers = static_cast<Buffer *>(std::calloc(40, sizeof(Buffer)));
    for (std::size_t i = 0; i < 40; ++i) put(reinterpret_cast<char *>(*buffers + i));
    auto *const pages =
        static_cast<char *>(mmap(nullptr, 8 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (std::size_t page = 1; page < 8; ++page) put(pages + page * kPage - page);
    Tagged on_stack[64] = {};
    for (Tagged *const places : {&in_static[0], &in_thread_local[0], &on_stack[0]}) {
        for (std::size_t i = 0; i < 64; ++i) put(reinterpret_cast<char *>(places + i) + sizeof places->tag);
    }
    make_garbage();

    for_each_place_in_blocks(blocks, [](const char *at) { expect_pattern(at, "a block"); });
    for (std::size_t i = 0; i < 40; ++i) expect_pattern(reinterpret_cast<char *>(*buffers + i), "a buffer of 20 bytes");
    for (std::size_t page = 1; page < 8; ++page) expect_pattern(pages + page * kPage - page, "two mapped pages");
    for (Tagged *const places : {&in_static[0], &in_thread_local[0], &on_stack[0]}) {
        for (std::size_t i = 0; i < 64; ++i)
            expect_pattern(reinterpret_cast<char *>(places + i) + sizeof places->tag, "an array of packed structures");
    }
    require_sound_heap();
    return 0;
}
