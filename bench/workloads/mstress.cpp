// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do threads pay that build many structures, pass some to each other, and drop all again?
//    Source: the pattern that public suites call mstress, written anew from a description: threads build,
//    transfer and drop structures of mixed size. Chosen here: in a turn all threads together take 800,000
//    steps. A step builds a structure; one of three is kept until the turn ends. With two of three steps the
//    thread drops one that it does not keep, and with one of four it exchanges one for what lies in a place of
//    a board that all share, perhaps nothing. Then it drops all that it has, and its share of every second
//    place of the board. A structure is a zeroed block of 1 to 127 words, each doubling as likely as the next;
//    one of a hundred is a hundred times as long, one of a thousand a thousand times. An operation is a turn of
//    all threads together.
//    So nearly all memory is free when a turn ends, and is needed again at once.
// Invariant: a structure is found zeroed, and every word of it is written; verifies all when it is dropped.
// Must not know: which malloc it runs on.
#include <algorithm>

#include "team.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    std::size_t steps = 800'000;  // of all threads together
    std::size_t places = 1'000;
};

constexpr unsigned kDoublings = 7;  // of words
constexpr std::uint64_t kOneLongOf = 100;
constexpr std::uint64_t kOneHugeOf = 1000;

// The head of a block; the other words follow.
struct Structure {
    std::uint64_t words;  // with this one

    std::uint64_t *begin() { return &words + 1; }
    std::uint64_t *end() { return &words + words; }
};

std::uint64_t mark(std::uint64_t words, std::size_t place) { return words * 0x9e3779b97f4a7c15U + place; }

std::uint64_t drawn_words(Random &random) {
    const std::uint64_t from = std::uint64_t{1} << random.below(kDoublings);
    const std::uint64_t words = random.between(from, 2 * from - 1);
    if (random.below(kOneHugeOf) == 0) return words * kOneHugeOf;
    return random.below(kOneLongOf) == 0 ? words * kOneLongOf : words;
}

Structure *build(std::uint64_t words) {
    auto *const structure = static_cast<Structure *>(std::calloc(words, sizeof words));
    if (structure == nullptr) fail("calloc(%zu words): out of memory", static_cast<std::size_t>(words));
    if (structure->words != 0) fail("mstress: %p is not zeroed", static_cast<void *>(structure));
    structure->words = words;
    for (std::uint64_t *word = structure->begin(); word != structure->end(); ++word) {
        if (*word != 0) fail("mstress: %p is not zeroed", static_cast<void *>(structure));
        *word = mark(words, static_cast<std::size_t>(word - structure->begin()));
    }
    return structure;
}

void drop(Structure *structure) {
    if (structure == nullptr) return;
    for (std::uint64_t *word = structure->begin(); word != structure->end(); ++word)
        if (*word != mark(structure->words, static_cast<std::size_t>(word - structure->begin())))
            fail("mstress: structure %p changed while it was held", static_cast<void *>(structure));
    std::free(structure);
}

using Board = std::vector<std::atomic<Structure *>>;

// What one thread has in hand and keeps.
class Hands {
  public:
    explicit Hands(std::size_t steps) : steps_(steps) {
        held_.reserve(steps);
        kept_.reserve(steps);
    }

    void take_turn(Random &random, Board &board) {
        for (std::size_t step = 0; step < steps_; ++step) {
            (random.below(3) == 0 ? kept_ : held_).push_back(build(drawn_words(random)));
            if (!held_.empty() && random.below(3) != 0) {
                std::swap(held_[random.below(held_.size())], held_.back());
                drop(held_.back());
                held_.pop_back();
            }
            if (!held_.empty() && random.below(4) == 0) {
                Structure *&mine = held_[random.below(held_.size())];
                // Paired with itself: the thread that takes a structure sees what its builder wrote.
                mine = board[random.below(board.size())].exchange(mine, std::memory_order_acq_rel);
            }
        }
        drop_all(held_);
        drop_all(kept_);
    }

  private:
    static void drop_all(std::vector<Structure *> &structures) {
        for (Structure *const structure : structures) drop(structure);
        structures.clear();
    }

    const std::size_t steps_;
    std::vector<Structure *> held_;
    std::vector<Structure *> kept_;
};

// The worker's part of the places first, first + step, ...
void clear(Board &board, const Worker &worker, std::size_t first, std::size_t step) {
    for (std::size_t place = first + worker.index * step; place < board.size(); place += worker.threads * step)
        drop(board[place].exchange(nullptr, std::memory_order_acq_rel));
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("mstress", "Threads that build, transfer and drop structures of mixed size.",
                      {.threads = 16, .seconds = 5});
    workload.options().number("--steps", shape.steps, "of all threads in a turn", {1, 1 << 24});
    workload.options().number("--places", shape.places, "of the board", {1, 1 << 24});
    if (!workload.parse(argc, argv)) return workload.exit_code();
    Board board(shape.places);
    Team team(workload.settings().threads);
    workload.run([&](Worker &worker) {
        Hands hands(std::max<std::size_t>(shape.steps / worker.threads, 1));
        std::size_t turn = 0;
        for (; team.more(worker, turn); ++turn) {
            hands.take_turn(worker.random, board);
            clear(board, worker, turn % 2, 2);
        }
        clear(board, worker, 0, 1);
    });
    return workload.report();
}
