// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: cache lines that come to have blocks of two threads: by turns of malloc, by reuse of what another allocated,
//    and by containers that move in use.
// Invariant: told by addresses, never by time. Each count is printed.
// Must not know: how an allocator comes to its addresses.
#pragma once

#include <cstdio>
#include <random>

#include "lab/teams.hpp"

namespace gr::lab {

// Cache lines in which both have a block.
inline std::size_t shared_lines(const std::vector<void *> &one, const std::vector<void *> &other) {
    const std::set<std::uintptr_t> lines = parts_of(one, kCacheLineBytes);
    std::size_t shared = 0;
    for (const std::uintptr_t line : parts_of(other, kCacheLineBytes)) shared += lines.count(line);
    return shared;
}

template <class A>
std::size_t printed(const char *how, std::size_t lines) {
    std::printf("%-17s %5zu lines: %s\n", how, lines, kNameOf<A>);
    return lines;
}

inline constexpr std::size_t kBlocks = 1000;
inline constexpr std::size_t kSize = 8;

// Two threads allocate by turns.
template <class A>
std::size_t actively_shared() {
    Team<A> team(2);
    std::vector<void *> held[2];
    for (std::size_t i = 0; i < kBlocks; ++i) {
        for (std::size_t member : {0U, 1U}) held[member].push_back(team.allocate(member, 1, kSize).front());
    }
    const std::size_t shared = shared_lines(held[0], held[1]);
    for (std::size_t member : {0U, 1U}) team.free(member, held[member]);
    return printed<A>("shared actively", shared);
}

// Two threads allocate in an order by chance, as they do without a barrier. By strict turns each of them could come to
// the same heap again and again, where calls take the heaps by turns.
template <class A>
std::size_t actively_shared_by_chance() {
    Team<A> team(2);
    std::vector<void *> held[2];
    std::mt19937 random(23);
    for (std::size_t i = 0; i < 2 * kBlocks; ++i) {
        const std::size_t member = random() % 2;
        held[member].push_back(team.allocate(member, 1, kSize).front());
    }
    const std::size_t shared = shared_lines(held[0], held[1]);
    for (std::size_t member : {0U, 1U}) team.free(member, held[member]);
    return shared;
}

// One allocates; the other frees the blocks whose number is told, and allocates as many.
template <class A>
std::size_t passively_shared(auto is_passed) {
    Team<A> team(2);
    const std::vector<void *> all = team.allocate(0, kBlocks, kSize);
    std::vector<void *> kept;
    std::vector<void *> passed;
    for (std::size_t i = 0; i < all.size(); ++i) (is_passed(i) ? passed : kept).push_back(all[i]);
    team.free(1, passed);
    const std::vector<void *> own = team.allocate(1, passed.size(), kSize);
    const std::size_t shared = shared_lines(kept, own);
    team.free(0, kept);
    team.free(1, own);
    return printed<A>("shared passively", shared);
}

// Every second block; or blocks by chance, since every second one can be all that lies in one of two heaps.
template <class A>
std::size_t passively_shared() {
    return passively_shared<A>([](std::size_t i) { return i % 2 != 0; });
}
template <class A>
std::size_t passively_shared_by_chance() {
    std::mt19937 random(29);
    return passively_shared<A>([&random](std::size_t) { return random() % 2 != 0; });
}

// Figure 3.7: a container that moves with blocks in use gives its lines to another thread. So much is freed that
// containers go to the global heap, while one block of each stays in use.
template <class A>
std::size_t shared_by_moving() {
    constexpr std::size_t kMany = 40'000;
    constexpr std::size_t kStep = 8;
    Team<A> team(2);
    const std::vector<void *> all = team.allocate(0, kMany, kSize);
    std::vector<void *> kept;
    std::vector<void *> freed;
    for (std::size_t i = 0; i < all.size(); ++i) (i % kStep == 0 ? kept : freed).push_back(all[i]);
    team.free(0, freed);
    const std::vector<void *> own = team.allocate(1, kMany, kSize);
    const std::size_t shared = shared_lines(kept, own);
    team.free(0, kept);
    team.free(1, own);
    return printed<A>("shared by moving", shared);
}

}  // namespace gr::lab
