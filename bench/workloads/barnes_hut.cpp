// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: how does a parallel simulation scale that allocates little, in bursts, from every thread: an
//    n-body solver whose octree is built anew at each time step?
//    Source: Hoard (Berger et al.), section 5: Barnes-Hut, 32,768 particles for 20 rounds, on up to 14
//    processors; table 4 gives 1,172,624 objects of 39 bytes on 32-bit pointers, 59,000 a round. The paper
//    says nothing of the bodies or the sharing of work. Here: a sphere of bodies; a leaf of 40 bytes for each
//    and a cell of 104 for each divided cube, some 50,000 blocks a round; each thread builds, uses and frees
//    the parts of the tree that hold its share of the bodies; opening angle 1.
//    An operation is a time step of all bodies. After --rounds steps the simulation begins again.
// Invariant: verifies at each step that the tree holds all the mass (masses are multiples of 1/16: sums are exact),
//    that each cell when freed is still what its children make of it, and that momentum is conserved as well
//    as the method can; when the simulation is repeated, that each step ends with the same bits. They do not
//    depend on the number of threads either, and a checksum of them is reported.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>
#include <new>

#include "team.hpp"

namespace {

using namespace gr::bench;

constexpr double kTimeStep = 0.01;
constexpr double kSoftening = 0.02;
constexpr double kMomentumBound = 1e-4;  // in a round, of the sum of the bodies' own; a thirtieth to a half is usual
constexpr unsigned kLevels = 4;          // at the top of the tree; below them its parts are built in parallel
constexpr std::size_t kParts = std::size_t{1} << (3 * kLevels);

struct Vector {
    double x = 0;
    double y = 0;
    double z = 0;

    Vector operator+(const Vector &other) const { return {x + other.x, y + other.y, z + other.z}; }
    Vector operator-(const Vector &other) const { return {x - other.x, y - other.y, z - other.z}; }
    Vector operator*(double factor) const { return {x * factor, y * factor, z * factor}; }
    double square() const { return x * x + y * y + z * z; }
    double length() const { return std::sqrt(square()); }
};

struct Body {
    double mass = 0;
    Vector position;
    Vector velocity;
};

struct Cube {
    Vector middle;
    double half = 0;  // of its edge

    unsigned octant(const Vector &place) const {
        return unsigned{place.x >= middle.x} << 2 | unsigned{place.y >= middle.y} << 1 | unsigned{place.z >= middle.z};
    }
    Cube part(unsigned octant) const {
        const double quarter = half / 2;
        const Vector way = {(octant & 4) != 0 ? quarter : -quarter, (octant & 2) != 0 ? quarter : -quarter,
                            (octant & 1) != 0 ? quarter : -quarter};
        return {.middle = middle + way, .half = quarter};
    }
};

// A leaf, that is one body; or what a cell is seen as from afar.
struct Node {
    double mass = 0;
    Vector centre;
    bool is_cell = false;
};

struct Cell : Node {
    Node *children[8] = {};
};

Cell *new_cell() {
    auto *const cell = new (allocate(sizeof(Cell))) Cell;
    cell->is_cell = true;
    return cell;
}

// The number of cells that had to be made.
std::size_t insert(Node *&root, Cube cube, const Body &body) {
    std::size_t cells = 0;
    Node **place = &root;
    while (*place != nullptr) {
        if (!(*place)->is_cell) {
            if (cube.half < 1e-15) fail("barnes-hut: two bodies at one place");
            Cell *const cell = new_cell();
            cell->children[cube.octant((*place)->centre)] = *place;
            *place = cell;
            ++cells;
        }
        const unsigned octant = cube.octant(body.position);
        place = &static_cast<Cell *>(*place)->children[octant];
        cube = cube.part(octant);
    }
    *place = new (allocate(sizeof(Node))) Node{.mass = body.mass, .centre = body.position};
    return cells;
}

// What the cell's children make of it; never inlined, so that it rounds alike wherever it is called.
[[gnu::noinline]] Node from_children(const Cell &cell) {
    Node sum;
    for (const Node *child : cell.children)
        if (child != nullptr) {
            sum.mass += child->mass;
            sum.centre = sum.centre + child->centre * child->mass;
        }
    sum.centre = sum.centre * (1 / sum.mass);
    return sum;
}

void weigh_alone(Cell &cell) {
    const Node sum = from_children(cell);
    cell.mass = sum.mass;
    cell.centre = sum.centre;
}

void weigh(Node *node) {
    if (node == nullptr || !node->is_cell) return;
    Cell &cell = *static_cast<Cell *>(node);
    for (Node *child : cell.children) weigh(child);
    weigh_alone(cell);
}

// Frees this level and as many below.
void release(Node *node, unsigned below) {
    if (node == nullptr) return;
    if (node->is_cell) {
        const Cell &cell = *static_cast<Cell *>(node);
        const Node sum = from_children(cell);
        if (sum.mass != cell.mass || (sum.centre - cell.centre).square() != 0)
            fail("barnes-hut: cell %p or what it holds changed while it was held", static_cast<void *>(node));
        if (below > 0)
            for (Node *child : cell.children) release(child, below - 1);
    }
    std::free(node);
}

// The acceleration at a place, but for the constant of gravitation.
Vector pull(const Node &node, double edge, const Vector &place) {
    const Vector way = node.centre - place;
    const double square = way.square() + kSoftening * kSoftening;
    if (!node.is_cell || edge * edge < square) return way * (node.mass / (square * std::sqrt(square)));
    Vector sum;
    for (const Node *child : static_cast<const Cell &>(node).children)
        if (child != nullptr) sum = sum + pull(*child, edge / 2, place);
    return sum;
}

double fraction(Random &random) { return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53; }

Vector direction(Random &random) {
    const double height = 2 * fraction(random) - 1;
    const double angle = 2 * M_PI * fraction(random);
    const double width = std::sqrt(1 - height * height);
    return {width * std::cos(angle), width * std::sin(angle), height};
}

// A uniform sphere of radius 1 and, but for the unit, mass 1; speeds are up to half of that of escape from its surface,
// and the whole is at rest.
std::vector<Body> sphere(std::size_t number, Random random) {
    std::vector<Body> bodies(number);
    double mass = 0;
    Vector momentum;
    for (Body &body : bodies) {
        body.mass = static_cast<double>(random.between(8, 24)) / 16;
        body.position = direction(random) * std::cbrt(fraction(random));
        body.velocity = direction(random) * (fraction(random) * M_SQRT2 / 2);
        mass += body.mass;
        momentum = momentum + body.velocity * body.mass;
    }
    for (Body &body : bodies) body.velocity = body.velocity - momentum * (1 / mass);
    return bodies;
}

class Simulation {
  public:
    Simulation(std::size_t bodies, std::size_t rounds, const Settings &settings)
        : team_(settings.threads),
          first_(sphere(bodies, Random(settings.seed))),
          bodies_(bodies),
          order_(bodies),
          part_of_(bodies),
          ends_(rounds) {
        for (const Body &body : first_) mass_ += body.mass;
    }

    void work(Worker &worker) {
        for (std::size_t turn = 0; team_.more(worker, turn); ++turn) step(worker, turn);
    }

    // Of the bytes in the tree and in the arrays.
    std::size_t peak() const {
        return first_.size() * (2 * sizeof(Body) + sizeof(order_[0]) + sizeof(part_of_[0]) + sizeof(Node)) +
               most_cells_ * sizeof(Cell);
    }
    std::uint32_t checksum() const { return checksum_; }

  private:
    void step(Worker &worker, std::size_t turn) {
        const std::size_t round = turn % ends_.size();
        if (worker.index == 0) divide(round);
        team_.meet();
        const double cells = team_.sum(worker, build(worker));
        if (worker.index == 0) join(static_cast<std::size_t>(cells));
        team_.meet();
        move(worker);
        team_.meet();
        if (worker.index == 0) {
            release(root_, kLevels - 1);
            verify(round, turn < ends_.size());
        }
        team_.meet();
        each_part(worker, [&](std::size_t part) { release(parts_[part], UINT_MAX); });
        team_.meet();
    }

    // Sorts the bodies by the parts of space, so that threads can take some each.
    void divide(std::size_t round) {
        if (round == 0) bodies_ = first_;
        space_ = {};
        for (const Body &body : bodies_)
            space_.half = std::max(
                {space_.half, std::abs(body.position.x), std::abs(body.position.y), std::abs(body.position.z)});
        std::fill(std::begin(begin_), std::end(begin_), 0);
        for (std::size_t body = 0; body < bodies_.size(); ++body) {
            part_of_[body] = part_at(bodies_[body].position);
            ++begin_[part_of_[body] + 1];
        }
        for (std::size_t part = 0; part < kParts; ++part) begin_[part + 1] += begin_[part];
        std::size_t next[kParts];
        std::copy_n(begin_, kParts, next);
        for (std::size_t body = 0; body < bodies_.size(); ++body) order_[next[part_of_[body]]++] = body;
    }

    std::size_t part_at(const Vector &place) const {
        std::size_t part = 0;
        Cube cube = space_;
        for (unsigned level = 0; level < kLevels; ++level) {
            const unsigned octant = cube.octant(place);
            part = part * 8 + octant;
            cube = cube.part(octant);
        }
        return part;
    }

    // A thread's parts hold about its share of the bodies.
    template <typename Action>
    void each_part(const Worker &worker, Action action) {
        for (std::size_t part = 0; part < kParts; ++part)
            if (begin_[part] < begin_[part + 1] && begin_[part] * worker.threads / bodies_.size() == worker.index)
                action(part);
    }

    double build(const Worker &worker) {
        std::size_t cells = 0;
        each_part(worker, [&](std::size_t part) {
            Cube cube = space_;
            for (unsigned level = kLevels; level > 0; --level) cube = cube.part(part >> (3 * (level - 1)) & 7);
            parts_[part] = nullptr;
            for (std::size_t index = begin_[part]; index < begin_[part + 1]; ++index)
                cells += insert(parts_[part], cube, bodies_[order_[index]]);
            weigh(parts_[part]);
        });
        return static_cast<double>(cells);
    }

    void join(std::size_t cells) {
        root_ = top(0, kLevels, cells);
        most_cells_ = std::max(most_cells_, cells);
        if (root_->mass != mass_) fail("barnes-hut: the tree has mass %.17g instead of %.17g", root_->mass, mass_);
    }

    Node *top(std::size_t part, unsigned level, std::size_t &cells) {
        const std::size_t width = std::size_t{1} << (3 * level);
        if (begin_[part] == begin_[part + width]) return nullptr;
        if (level == 0) return parts_[part];
        Cell *const cell = new_cell();
        ++cells;
        for (std::size_t octant = 0; octant < 8; ++octant)
            cell->children[octant] = top(part + octant * width / 8, level - 1, cells);
        weigh_alone(*cell);
        return cell;
    }

    void move(const Worker &worker) {
        each_part(worker, [&](std::size_t part) {
            for (std::size_t index = begin_[part]; index < begin_[part + 1]; ++index) {
                Body &body = bodies_[order_[index]];
                const Vector acceleration = pull(*root_, 2 * space_.half, body.position) * (1 / mass_);
                body.velocity = body.velocity + acceleration * kTimeStep;
                body.position = body.position + body.velocity * kTimeStep;
            }
        });
    }

    void verify(std::size_t round, bool is_first_time) {
        Vector momentum;
        double most = 0;
        std::uint64_t sum = 0;
        for (const Body &body : bodies_) {
            momentum = momentum + body.velocity * body.mass;
            most += body.velocity.length() * body.mass;
            for (const double value : {body.position.x, body.position.y, body.position.z})
                sum = Random(sum ^ std::bit_cast<std::uint64_t>(value)).next();
        }
        if (!(momentum.length() <= kMomentumBound * static_cast<double>(round + 1) * most))
            fail("barnes-hut: momentum is not conserved: %g of %g", momentum.length(), most);
        if (is_first_time) ends_[round] = sum;
        if (ends_[round] != sum) fail("barnes-hut: round %zu ended otherwise than the first time", round);
        checksum_ = static_cast<std::uint32_t>(sum);
    }

    Team team_;
    const std::vector<Body> first_;
    std::vector<Body> bodies_;
    double mass_ = 0;
    Cube space_;
    std::size_t begin_[kParts + 1] = {};  // in order_, of the bodies in each part
    std::vector<std::size_t> order_;
    std::vector<std::size_t> part_of_;
    Node *parts_[kParts] = {};
    Node *root_ = nullptr;
    std::size_t most_cells_ = 0;
    std::vector<std::uint64_t> ends_;  // of the rounds: checksums
    std::uint32_t checksum_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
    std::size_t bodies = 32768;
    std::size_t rounds = 20;
    Workload barnes_hut("barnes-hut", "An n-body simulation with an octree of allocated nodes.",
                        {.threads = 14, .operations = 20});
    barnes_hut.options().number("--bodies", bodies, "in the simulation", {1000, 1 << 24});
    barnes_hut.options().number("--rounds", rounds, "time steps before it begins again", {1, 1 << 20});
    if (!barnes_hut.parse(argc, argv)) return barnes_hut.exit_code();
    Simulation simulation(bodies, rounds, barnes_hut.settings());
    barnes_hut.run([&](Worker &worker) { simulation.work(worker); });
    barnes_hut.note("requested_peak_bytes", static_cast<double>(simulation.peak()));
    barnes_hut.note("state_checksum", simulation.checksum());
    return barnes_hut.report();
}
