// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: how well does an allocator serve a program of little memory in very many sizes?
//    Source: espresso in Wasik's thesis, 6.1.3 and tables 6.1 to 6.6, and in Hoard, tables 2 and 4. Neither
//    program nor inputs are used: this is the method anew (complement, expand, irredundant, reduce), and the
//    functions are drawn from the seed: groups of outputs look at neighbouring inputs. A cube that is a
//    temporary is a block of its own, a cover is one block, a list of cubes another. An operation is a
//    minimised function, about a fifth of the source's work, so that one takes some hundredths of a second.
//    Source (its first input) and, in brackets, ours: 1,675,492 allocations (about 360,000) of 64.0 bytes on
//    average (68.2), 52.1% of them of 25 to 32 bytes (42.9%), the largest of 55,072 (131,072, a cover growing
//    by doubling); 169,710 bytes live on average (172,002), 280,115 at most (236,832), in 4,389 blocks at
//    most (275). --inputs 7 --outputs 10 --terms 128 is like its second: 24,759 (36,353) of 43.1
//    bytes (37.6), 41.1% of up to 8 (44.8%); 42,873 bytes live at most (11,576).
// Invariant: verifies at points drawn from the cubes of the function and of its complement that the minimised cover
//    has the function's value, and that it is not larger.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <numeric>

#include "workload.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    unsigned inputs = 24;
    unsigned outputs = 160;
    unsigned terms = 500;
    unsigned window = 7;  // neighbouring inputs that a term depends on
    unsigned group = 32;  // neighbouring outputs that it may set
};

// A cube is a word of marks, then bits: two for each input (may it be 0? may it be 1?), then one for each output.
using Word = std::uint32_t;
constexpr unsigned kWordBits = 32;
constexpr Word kGone = 1;  // a mark: to be left out of its cover

bool has(const Word *cube, unsigned bit) { return (cube[1 + bit / kWordBits] >> bit % kWordBits & 1) != 0; }
void add(Word *cube, unsigned bit) { cube[1 + bit / kWordBits] |= Word{1} << bit % kWordBits; }
void remove(Word *cube, unsigned bit) { cube[1 + bit / kWordBits] &= ~(Word{1} << bit % kWordBits); }

struct Free {
    void operator()(Word *block) const { std::free(block); }
};
using Cube = std::unique_ptr<Word[], Free>;  // in a block of its own
using List = std::vector<const Word *>;      // of cubes in other blocks

// What the bits of a cube stand for.
class Space {
  public:
    explicit Space(const Shape &shape)
        : inputs(shape.inputs),
          bits(2 * inputs + shape.outputs),
          input_words((2 * inputs + kWordBits - 1) / kWordBits),
          output_word(1 + 2 * inputs / kWordBits),
          words(1 + (bits + kWordBits - 1) / kWordBits) {
        for (unsigned input = 0; input < inputs; ++input) add(lows_.get(), 2 * input);
        for (unsigned bit = 2 * inputs; bit < bits; ++bit) add(outputs_.get(), bit);
    }

    Cube empty() const {
        Cube cube(static_cast<Word *>(allocate(words * sizeof(Word))));
        std::fill_n(cube.get(), words, 0);
        return cube;
    }
    Cube copy(const Word *original) const {
        Cube cube(static_cast<Word *>(allocate(words * sizeof(Word))));
        std::copy_n(original, words, cube.get());
        return cube;
    }
    // Of all inputs and no output.
    Cube any_input() const {
        Cube cube = empty();
        for (unsigned i = 1; i < words; ++i) cube[i] = input_bits(i);
        return cube;
    }

    Cube free_inputs(const Word *cube) const {
        Cube free = empty();
        for (unsigned i = 1; i < words; ++i) {
            const Word both = cube[i] & cube[i] >> 1 & lows_[i];
            free[i] = both | both << 1;
        }
        return free;
    }

    unsigned count(const Word *cube) const {
        unsigned count = 0;
        for (unsigned i = 1; i < words; ++i) count += static_cast<unsigned>(std::popcount(cube[i]));
        return count;
    }
    void unite(Word *cube, const Word *other) const {
        for (unsigned i = 1; i < words; ++i) cube[i] |= other[i];
    }
    void intersect(Word *cube, const Word *other) const {
        for (unsigned i = 1; i < words; ++i) cube[i] &= other[i];
    }
    Word input_bits(unsigned i) const { return lows_[i] | lows_[i] << 1; }
    Word output_bits(unsigned i) const { return outputs_[i]; }

    bool contains(const Word *cube, const Word *part) const {
        for (unsigned i = 1; i < words; ++i)
            if ((part[i] & ~cube[i]) != 0) return false;
        return true;
    }
    bool share_output(const Word *a, const Word *b) const {
        Word common = 0;
        for (unsigned i = output_word; i < words; ++i) common |= a[i] & b[i] & outputs_[i];
        return common != 0;
    }
    // Of how many inputs two cubes have no value in common: 0, 1 or, for any more, 2.
    unsigned distance(const Word *a, const Word *b) const {
        unsigned distance = 0;
        for (unsigned i = 1; i <= input_words && distance < 2; ++i) distance += up_to_2(apart(a[i] & b[i], i));
        return std::min(distance, 2U);
    }
    // What keeps two cubes apart: the second one's bits of each input of which they have no value in common, and its
    // outputs if they have none in common. To add one of them to the first cube takes away that input or the outputs.
    void conflict(const Word *a, const Word *b, Word *result) const {
        const Word outputs_apart = share_output(a, b) ? 0 : ~Word{0};
        for (unsigned i = 1; i < words; ++i) {
            const Word inputs_apart = apart(a[i] & b[i], i);
            result[i] = b[i] & (inputs_apart | inputs_apart << 1 | (outputs_[i] & outputs_apart));
        }
    }
    // Whether it is a conflict of one input, or of the outputs, only.
    bool is_last(const Word *conflict) const {
        unsigned size = 0;
        bool any_output = false;
        for (unsigned i = 1; i < words; ++i) {
            size += up_to_2((conflict[i] | conflict[i] >> 1) & lows_[i]);
            any_output |= (conflict[i] & outputs_[i]) != 0;
        }
        return size + any_output == 1;
    }
    // Whether each of its inputs, and the outputs, have a bit that is not forbidden.
    bool can_be_settled(const Word *conflict, const Word *forbidden) const {
        bool output = false;
        bool allowed_output = false;
        for (unsigned i = 1; i < words; ++i) {
            const Word allowed = conflict[i] & ~forbidden[i];
            if ((((conflict[i] | conflict[i] >> 1) ^ (allowed | allowed >> 1)) & lows_[i]) != 0) return false;
            output |= (conflict[i] & outputs_[i]) != 0;
            allowed_output |= (allowed & outputs_[i]) != 0;
        }
        return output == allowed_output;
    }
    // Takes the bit's input, or the outputs, out of a conflict.
    void settle(Word *conflict, unsigned bit) const {
        if (bit < 2 * inputs) {
            remove(conflict, bit);
            remove(conflict, bit ^ 1);
        } else {
            for (unsigned i = 1; i < words; ++i) conflict[i] &= ~outputs_[i];
        }
    }

    const unsigned inputs;
    const unsigned bits;
    const unsigned input_words;  // in which there are bits of inputs
    const unsigned output_word;  // the first in which there are bits of outputs
    const unsigned words;

  private:
    // The inputs of which no value is in common, each as its lower bit.
    Word apart(Word common, unsigned i) const { return lows_[i] & ~(common | common >> 1); }
    // How many bits there are: 0, 1 or, for any more, 2.
    static unsigned up_to_2(Word word) { return (word != 0) + ((word & (word - 1)) != 0); }

    const Cube lows_ = empty();  // the bit for 0 of each input
    const Cube outputs_ = empty();
};

// Cubes side by side in one block.
class Cover {
  public:
    explicit Cover(std::size_t words) : words_(words) {}

    std::size_t size() const { return size_; }
    Word *operator[](std::size_t i) const { return cubes_.get() + i * words_; }

    void push(const Word *cube) {
        if (size_ == capacity_) {
            capacity_ = std::max<std::size_t>(2 * capacity_, 16);
            Word *const grown = static_cast<Word *>(std::realloc(cubes_.get(), capacity_ * words_ * sizeof(Word)));
            if (grown == nullptr) fail("espresso-like: out of memory");
            static_cast<void>(cubes_.release());
            cubes_.reset(grown);
        }
        std::copy_n(cube, words_, (*this)[size_++]);
    }
    Cover copy() const {
        Cover copy(words_);
        copy.size_ = size_;
        copy.capacity_ = std::max<std::size_t>(size_, 1);
        copy.cubes_.reset(static_cast<Word *>(allocate(copy.capacity_ * words_ * sizeof(Word))));
        std::copy_n(cubes_.get(), size_ * words_, copy.cubes_.get());
        return copy;
    }
    void leave_out_gone() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < size_; ++i)
            if (((*this)[i][0] & kGone) == 0) std::copy_n((*this)[i], words_, (*this)[kept++]);
        size_ = kept;
    }

  private:
    std::size_t words_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    Cube cubes_;
};

// Cubes as they are where all inputs but the free ones are fixed; their outputs do not count.
struct Part {
    List cubes;
    Cube free;  // both bits of each free input
};

Part part_with(const Space &space, const Part &whole, unsigned bit) {
    Part part{{}, space.copy(whole.free.get())};
    space.settle(part.free.get(), bit);
    part.cubes.reserve(whole.cubes.size());
    for (const Word *const cube : whole.cubes)
        if (has(cube, bit)) part.cubes.push_back(cube);
    return part;
}

// The bits that a cube lacks of free inputs, in the words of inputs.
template <typename Visit>
unsigned visit_literals(const Space &space, const Part &part, const Word *cube, Visit visit) {
    unsigned count = 0;
    for (unsigned i = 1; i < space.words; ++i)
        for (Word lacks = part.free[i] & ~cube[i]; lacks != 0; lacks &= lacks - 1, ++count)
            visit((i - 1) * kWordBits + static_cast<unsigned>(std::countr_zero(lacks)));
    return count;
}

struct Split {
    bool all = false;     // one of the cubes is the whole part: there is no need to split it
    bool binate = false;  // some cubes need the input to be 0, others need it to be 1
    unsigned input = 0;
};

// By the input that most cubes depend on, a binate one if there is any.
Split best_split(const Space &space, const Part &part) {
    std::vector<std::uint16_t> lacking(2 * space.inputs);
    Split split;
    for (const Word *const cube : part.cubes) {
        const unsigned literals = visit_literals(space, part, cube, [&](unsigned bit) { ++lacking[bit]; });
        if (literals == 0) return {.all = true};
    }
    unsigned most = 0;
    for (unsigned input = 0; input < space.inputs; ++input) {
        const unsigned zeros = lacking[2 * input], ones = lacking[2 * input + 1];
        const bool binate = zeros != 0 && ones != 0;
        if (std::pair(binate, zeros + ones) > std::pair(split.binate, most)) {
            split = {.all = false, .binate = binate, .input = input};
            most = zeros + ones;
        }
    }
    return split;
}

bool is_everything(const Space &space, const Part &part) {
    const Split split = best_split(space, part);
    if (split.all || !split.binate) return split.all;
    return is_everything(space, part_with(space, part, 2 * split.input)) &&
           is_everything(space, part_with(space, part, 2 * split.input + 1));
}

// The smallest cube that holds all that is not in the part; without any bit if there is none.
Cube hull_of_complement(const Space &space, const Part &part) {
    if (part.cubes.empty()) return space.any_input();
    const Split split = best_split(space, part);
    if (split.all) return space.empty();
    Cube hull = hull_of_complement(space, part_with(space, part, 2 * split.input));
    remove(hull.get(), 2 * split.input + 1);
    Cube other = hull_of_complement(space, part_with(space, part, 2 * split.input + 1));
    remove(other.get(), 2 * split.input);
    space.unite(hull.get(), other.get());
    return hull;
}

// Cubes, each in a block of its own, that together hold all that is not in the part.
std::vector<Cube> complement(const Space &space, const Part &part) {
    std::vector<Cube> result;
    const Split split = best_split(space, part);
    if (split.all) return result;
    if (part.cubes.size() <= 1) {
        if (part.cubes.empty()) result.push_back(space.any_input());
        for (const Word *const cube : part.cubes)
            visit_literals(space, part, cube, [&](unsigned bit) {
                result.push_back(space.any_input());
                remove(result.back().get(), bit ^ 1);
            });
        return result;
    }
    result = complement(space, part_with(space, part, 2 * split.input));
    std::vector<Cube> other = complement(space, part_with(space, part, 2 * split.input + 1));
    // What is in both halves need not be cut down to one.
    constexpr Word kWhole = 2;
    for (const Cube &cube : other)
        for (const Cube &twin : result)
            if (space.contains(twin.get(), cube.get()))
                cube[0] |= space.contains(cube.get(), twin.get()) ? kGone : kWhole;
    for (const Cube &cube : result)
        if (std::ranges::none_of(other, [&](const Cube &twin) { return space.contains(twin.get(), cube.get()); }))
            remove(cube.get(), 2 * split.input + 1);
    for (Cube &cube : other) {
        if ((cube[0] & kGone) != 0) continue;
        if (cube[0] == 0) remove(cube.get(), 2 * split.input);
        cube[0] = 0;
        result.push_back(std::move(cube));
    }
    return result;
}

// A function of many outputs: where each is to be 1, and where it does not matter.
struct Function {
    Cover on;
    Cover any;
};

Function draw_function(const Shape &shape, const Space &space, Random &random) {
    Function function{Cover(space.words), Cover(space.words)};
    const unsigned groups = (shape.outputs + shape.group - 1) / shape.group;
    for (unsigned term = 0; term < shape.terms; ++term) {
        const Cube cube = space.any_input();
        const unsigned group = term % groups;
        for (unsigned i = 0; i < std::min(shape.window, shape.inputs); ++i) {
            const unsigned input = (group * shape.inputs / groups + i) % shape.inputs;
            // 0, 1 or neither, at 3 : 3 : 2.
            if (const auto value = static_cast<unsigned>(random.below(8)); value < 6)
                remove(cube.get(), 2 * input + value % 2);
        }
        const unsigned first = group * shape.group;
        const unsigned last = std::min(first + shape.group, shape.outputs) - 1;
        for (unsigned output = first; output <= last; ++output)
            if (random.below(4) == 0) add(cube.get(), 2 * shape.inputs + output);
        add(cube.get(), 2 * shape.inputs + static_cast<unsigned>(random.between(first, last)));
        (random.below(16) == 0 ? function.any : function.on).push(cube.get());
    }
    return function;
}

// Makes a cover of a function smaller by Espresso's heuristics.
class Minimiser {
  public:
    Minimiser(const Space &space, const Function &function)
        : space_(space), any_(function.any), cover_(function.on.copy()), off_(space.words) {
        const Cube everything = space.any_input();
        for (unsigned bit = 2 * space.inputs; bit < space.bits; ++bit) add(everything.get(), bit);
        const List all = near(everything.get());
        for (unsigned bit = 2 * space.inputs; bit < space.bits; ++bit) {
            for (const Cube &cube : complement(space, within(everything.get(), bit, all))) {
                add(cube.get(), bit);
                off_.push(cube.get());
            }
            off_ends_.push_back(off_.size());
        }
    }

    const Cover &off() const { return off_; }

    Cover minimise() {
        expand();
        leave_out_redundant();
        for (;;) {
            Cover before = cover_.copy();
            const auto cost = this->cost();
            reduce();
            expand();
            leave_out_redundant();
            if (this->cost() >= cost) return before;
        }
    }

  private:
    // Cubes, then the bits that they lack.
    std::pair<std::size_t, std::size_t> cost() const {
        std::size_t lacking = 0;
        for (std::size_t i = 0; i < cover_.size(); ++i) lacking += space_.bits - space_.count(cover_[i]);
        return {cover_.size(), lacking};
    }

    std::vector<Word *> smallest_first() const {
        std::vector<Word *> order;
        order.reserve(cover_.size());
        for (std::size_t i = 0; i < cover_.size(); ++i) order.push_back(cover_[i]);
        std::ranges::stable_sort(order, {}, [&](const Word *cube) { return space_.count(cube); });
        return order;
    }

    // The other cubes that have something in common with this one.
    List near(const Word *cube) const {
        List near;
        for (const Cover *const cover : {&cover_, &any_})
            for (std::size_t i = 0; i < cover->size(); ++i) {
                const Word *const other = (*cover)[i];
                if (other != cube && (other[0] & kGone) == 0 && space_.share_output(other, cube) &&
                    space_.distance(other, cube) == 0)
                    near.push_back(other);
            }
        return near;
    }

    // An output inside a cube, made up by cubes near it.
    Part within(const Word *cube, unsigned output_bit, const List &near) const {
        Part part{{}, space_.free_inputs(cube)};
        for (const Word *const other : near)
            if (has(other, output_bit)) part.cubes.push_back(other);
        return part;
    }

    // Adds to each cube what it can have without meeting what is off; leaves out the cubes that this makes needless.
    void expand() {
        const std::vector<unsigned> order = most_wanted_bits();
        for (Word *const cube : smallest_first()) {
            if ((cube[0] & kGone) != 0) continue;
            expand(cube, order);
            for (std::size_t i = 0; i < cover_.size(); ++i)
                if (cover_[i] != cube && space_.contains(cube, cover_[i])) cover_[i][0] |= kGone;
        }
        cover_.leave_out_gone();
    }

    std::vector<unsigned> most_wanted_bits() const {
        std::vector<unsigned> cubes_with(space_.bits);
        for (std::size_t i = 0; i < cover_.size(); ++i)
            for (unsigned bit = 0; bit < space_.bits; ++bit) cubes_with[bit] += has(cover_[i], bit);
        std::vector<unsigned> order(space_.bits);
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, std::greater{}, [&](unsigned bit) { return cubes_with[bit]; });
        return order;
    }

    void expand(Word *cube, const std::vector<unsigned> &order) const {
        // A cube that is off forbids what would settle the last of its conflicts.
        const Cube forbidden = space_.empty();
        const Cube conflict = space_.empty();
        List further_off;
        std::size_t i = 0;
        for (unsigned output = 0; output < off_ends_.size(); i = off_ends_[output++]) {
            const unsigned bit = 2 * space_.inputs + output;
            // An output that is never off could be had by all cubes, which would then all be alike.
            if (i == off_ends_[output] && !has(cube, bit)) add(forbidden.get(), bit);
            const std::size_t others = further_off.size();
            for (; i < off_ends_[output]; ++i) {
                const unsigned distance = space_.distance(cube, off_[i]);
                if (distance == 0) {
                    if (has(cube, bit)) fail("espresso-like: a cube is both on and off");
                    add(forbidden.get(), bit);
                    further_off.resize(others);
                    break;
                }
                if (distance == 1 && has(cube, bit)) {
                    space_.conflict(cube, off_[i], conflict.get());
                    space_.unite(forbidden.get(), conflict.get());
                } else {
                    further_off.push_back(off_[i]);
                }
            }
        }
        std::vector<Cube> conflicts;
        for (const Word *const off : further_off) {
            space_.conflict(cube, off, conflict.get());
            if (space_.can_be_settled(conflict.get(), forbidden.get()))
                conflicts.push_back(space_.copy(conflict.get()));
        }
        for (const unsigned bit : order) {
            if (has(cube, bit) || has(forbidden.get(), bit)) continue;
            add(cube, bit);
            std::erase_if(conflicts, [&](const Cube &left) {
                if (!has(left.get(), bit)) return false;
                space_.settle(left.get(), bit);
                if (!space_.is_last(left.get())) return false;
                space_.unite(forbidden.get(), left.get());
                return true;
            });
        }
    }

    void leave_out_redundant() {
        for (Word *const cube : smallest_first()) {
            const List near = this->near(cube);
            bool redundant = true;
            for (unsigned bit = 2 * space_.inputs; redundant && bit < space_.bits; ++bit)
                redundant = !has(cube, bit) || is_everything(space_, within(cube, bit, near));
            if (redundant) cube[0] |= kGone;
        }
        cover_.leave_out_gone();
    }

    // Takes from each cube, the largest first, what the others hold as well, so that expand() may go another way.
    void reduce() {
        std::vector<Word *> order = smallest_first();
        std::ranges::reverse(order);
        for (Word *const cube : order) {
            const List near = this->near(cube);
            const Cube needed = space_.empty();
            for (unsigned bit = 2 * space_.inputs; bit < space_.bits; ++bit) {
                if (!has(cube, bit)) continue;
                const Cube hull = hull_of_complement(space_, within(cube, bit, near));
                if (space_.count(hull.get()) == 0) continue;
                space_.unite(needed.get(), hull.get());
                add(needed.get(), bit);
            }
            if (space_.count(needed.get()) == 0) cube[0] |= kGone;
            space_.intersect(cube, needed.get());
        }
        cover_.leave_out_gone();
    }

    const Space &space_;
    const Cover &any_;
    Cover cover_;
    Cover off_;                          // one output after the other
    std::vector<std::size_t> off_ends_;  // where each output's end
};

// Where a cover is 1 for one value of all inputs.
Cube outputs_at(const Space &space, const Cover &cover, const Word *point) {
    Cube outputs = space.empty();
    for (std::size_t i = 0; i < cover.size(); ++i)
        if (space.distance(cover[i], point) == 0) space.unite(outputs.get(), cover[i]);
    return outputs;
}

// One of the values of a cube.
Cube point_in(const Space &space, const Word *cube, Random &random) {
    Cube point = space.copy(cube);
    for (unsigned input = 0; input < space.inputs; ++input)
        if (has(cube, 2 * input) && has(cube, 2 * input + 1))
            remove(point.get(), 2 * input + static_cast<unsigned>(random.below(2)));
    return point;
}

// Compares at points that are drawn from the cubes of a cover.
void verify(const Space &space, const Function &function, const Cover &minimised, const Cover &points, Random &random) {
    constexpr int kPoints = 64;
    for (int turn = 0; points.size() != 0 && turn < kPoints; ++turn) {
        const Cube point = point_in(space, points[random.below(points.size())], random);
        const Cube on = outputs_at(space, function.on, point.get());
        const Cube any = outputs_at(space, function.any, point.get());
        const Cube now = outputs_at(space, minimised, point.get());
        for (unsigned i = 1; i < space.words; ++i)
            if (((on[i] ^ now[i]) & ~any[i] & space.output_bits(i)) != 0)
                fail("espresso-like: a minimised function is another one");
    }
}

void work(const Shape &shape, Worker &worker) {
    const Space space(shape);
    for (; worker.more(); worker.did(1)) {
        const Function function = draw_function(shape, space, worker.random);
        Minimiser minimiser(space, function);
        const Cover minimised = minimiser.minimise();
        if (minimised.size() > function.on.size()) fail("espresso-like: a minimised function is larger than it was");
        verify(space, function, minimised, function.on, worker.random);
        verify(space, function, minimised, minimiser.off(), worker.random);
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload espresso("espresso-like", "Minimises two-level logic: cubes, lists of cubes and covers.",
                      {.threads = 1, .seconds = 5});
    espresso.options().number("--inputs", shape.inputs, "of the function", {1, 1000});
    espresso.options().number("--outputs", shape.outputs, "of the function", {1, 1000});
    espresso.options().number("--terms", shape.terms, "that the function is drawn as", {1, 1 << 15});
    espresso.options().number("--window", shape.window, "inputs that a term depends on", {1, 20});
    espresso.options().number("--group", shape.group, "outputs that it may set", {1, 1000});
    if (!espresso.parse(argc, argv)) return espresso.exit_code();
    espresso.run([&](Worker &worker) { work(shape, worker); });
    return espresso.report();
}
