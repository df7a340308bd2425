// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do time and memory become when several threads build a large structure of small and
//    middling blocks, keep it, and then compute with it and hardly allocate?
//    Source: it stands in the place of BEMengine (Hoard, Berger et al., section 5), which cannot be had: an
//    object-oriented boundary-element solver with nearly 600 MB live and, over its run, blocks of 226 bytes in
//    the mean, in three mostly parallel phases (registration of equations, preconditioner, solver) on up to 14
//    processors. The paper says no more. Here: unit sources on the panels of a square plate act on each other
//    as 1/distance as far as both panels' reaches (1 to 7, random) allow; an equation is an object and a block
//    of its couplings, gathered in a vector that grows; the preconditioner is a Cholesky factor for each group
//    of 4 to 12 equations; the solver is conjugate gradients on vectors of the whole length. Each thread frees
//    what it built. --mib 600 is about the paper's size; the default is for a quick look.
//    An operation is one whole run of the phases, by all threads; when the time is up the run is finished.
// Invariant: the right side is computed from the couplings before they are stored, so that the solution is known;
//    verifies at the end of each run every unknown's error, every equation's residual, and that the factors are
//    what they are when computed again.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <cmath>
#include <memory>

#include "team.hpp"

namespace {

using namespace gr::bench;

constexpr std::uint64_t kReach = 7;
constexpr double kDominance = 1.25;        // of the diagonal over the sum of its row: bounds the condition number by 9
constexpr double kTolerance = 1e-12;       // of the solver
constexpr double kResidualBound = 1e-9;    // both relative to
constexpr double kErrorBound = 1e-8;       // values of about 1
constexpr unsigned kMostIterations = 100;  // 16 are usual
constexpr std::size_t kEquationBytes = 532;  // all that is live, over the number of equations; found by counting

using Reals = std::vector<double>;

struct Coupling {
    std::uint32_t column;
    float factor;
};

struct Equation {
    double diagonal = 0;
    double right_side = 0;
    std::vector<Coupling> couplings;

    double row_times(const Reals &vector, std::size_t row) const {
        double sum = diagonal * vector[row];
        for (const Coupling &coupling : couplings)
            sum += static_cast<double>(coupling.factor) * vector[coupling.column];
        return sum;
    }
};

// The panels of the plate, in rows.
class Plate {
  public:
    Plate(std::size_t panels, Random random)
        : edge_(static_cast<std::size_t>(std::sqrt(static_cast<double>(panels)))), reaches_(edge_ * edge_) {
        for (std::uint8_t &reach : reaches_) reach = static_cast<std::uint8_t>(random.between(1, kReach));
    }

    std::size_t size() const { return reaches_.size(); }

    template <typename Action>
    void each_neighbour(std::size_t panel, Action action) const {
        const auto x = static_cast<int>(panel % edge_);
        const auto y = static_cast<int>(panel / edge_);
        const auto edge = static_cast<int>(edge_);
        const auto window = static_cast<int>(std::sqrt(kReach * reaches_[panel]));
        for (int v = std::max(0, y - window); v <= std::min(edge - 1, y + window); ++v)
            for (int u = std::max(0, x - window); u <= std::min(edge - 1, x + window); ++u) {
                const std::size_t other = static_cast<std::size_t>(v) * edge_ + static_cast<std::size_t>(u);
                const int square = (u - x) * (u - x) + (v - y) * (v - y);
                if (square > 0 && square <= reaches_[panel] * reaches_[other]) action(other, square);
            }
    }

  private:
    std::size_t edge_;
    std::vector<std::uint8_t> reaches_;
};

// Of a symmetric positive matrix of a few rows: the lower triangle, row by row.
class Cholesky {
  public:
    Cholesky() = default;
    explicit Cholesky(std::size_t rows) : rows_(rows), entries_(std::make_unique<double[]>(size())) {}

    double &at(std::size_t row, std::size_t column) { return entries_[row * (row + 1) / 2 + column]; }
    double at(std::size_t row, std::size_t column) const { return entries_[row * (row + 1) / 2 + column]; }

    void factor() {
        for (std::size_t row = 0; row < rows_; ++row)
            for (std::size_t column = 0; column <= row; ++column) {
                double rest = at(row, column);
                for (std::size_t before = 0; before < column; ++before) rest -= at(row, before) * at(column, before);
                at(row, column) = column < row ? rest / at(column, column) : std::sqrt(rest);
            }
    }

    void solve(const double *right_side, double *solution) const {
        for (std::size_t row = 0; row < rows_; ++row) {
            solution[row] = right_side[row];
            for (std::size_t before = 0; before < row; ++before) solution[row] -= at(row, before) * solution[before];
            solution[row] /= at(row, row);
        }
        for (std::size_t row = rows_; row-- > 0;) {
            for (std::size_t after = row + 1; after < rows_; ++after) solution[row] -= at(after, row) * solution[after];
            solution[row] /= at(row, row);
        }
    }

    bool operator==(const Cholesky &other) const {
        return rows_ == other.rows_ && std::equal(&entries_[0], &entries_[size()], &other.entries_[0]);
    }
    std::size_t bytes() const { return size() * sizeof(double); }

  private:
    std::size_t size() const { return rows_ * (rows_ + 1) / 2; }

    std::size_t rows_ = 0;
    std::unique_ptr<double[]> entries_;
};

class Solver {
  public:
    Solver(std::size_t panels, const Settings &settings)
        : random_(settings.seed),
          plate_(panels, Random(random_.next())),
          team_(settings.threads),
          equations_(plate_.size()) {
        for (std::size_t row = 0; row < equations_.size(); row += random_.between(4, 12)) group_begins_.push_back(row);
        factors_.resize(group_begins_.size());
        group_begins_.push_back(equations_.size());
    }

    void work(Worker &worker) {
        const Share share(*this, worker);
        for (std::size_t turn = 0; team_.more(worker, turn); ++turn) {
            const auto start = Clock::now();
            for (std::size_t row = share.first_row; row < share.last_row; ++row) equations_[row] = equation(row);
            team_.meet();
            const auto built = Clock::now();
            for (std::size_t group = share.first_group; group < share.last_group; ++group)
                factors_[group] = factor(group);
            team_.meet();
            const auto preconditioned = Clock::now();
            solve(worker, share);
            const auto solved = Clock::now();
            verify(share);
            const double bytes = team_.sum(worker, bytes_of(share));
            release(worker, share);
            if (worker.index == 0) {
                seconds.build += Seconds(built - start).count();
                seconds.precondition += Seconds(preconditioned - built).count();
                seconds.solve += Seconds(solved - preconditioned).count();
                block_bytes_ = bytes;
            }
        }
    }

    double mean_block_bytes() const {
        return block_bytes_ / static_cast<double>(2 * equations_.size() + factors_.size());
    }
    double requested_peak_bytes() const {
        const std::size_t arrays = equations_.size() * (sizeof(equations_[0]) + 1 + 5 * sizeof(double)) +
                                   factors_.size() * (sizeof(factors_[0]) + sizeof(group_begins_[0]));
        return block_bytes_ + static_cast<double>(arrays);
    }

    struct {
        double build = 0;
        double precondition = 0;
        double solve = 0;
    } seconds;

  private:
    using Clock = std::chrono::steady_clock;
    using Seconds = std::chrono::duration<double>;

    // What one thread does: whole groups.
    struct Share {
        Share(const Solver &solver, const Worker &worker)
            : first_group(solver.factors_.size() * worker.index / worker.threads),
              last_group(solver.factors_.size() * (worker.index + 1) / worker.threads),
              first_row(solver.group_begins_[first_group]),
              last_row(solver.group_begins_[last_group]) {}
        std::size_t first_group;
        std::size_t last_group;
        std::size_t first_row;
        std::size_t last_row;
    };

    static double solution_at(std::size_t row) { return static_cast<double>(row * 7919 % 1024) / 512 - 1; }

    std::unique_ptr<Equation> equation(std::size_t row) const {
        std::vector<Coupling> couplings;
        double sum = 0;
        double right_side = 0;
        plate_.each_neighbour(row, [&](std::size_t other, int square) {
            const float factor = 1 / std::sqrt(static_cast<float>(square));
            couplings.push_back({.column = static_cast<std::uint32_t>(other), .factor = factor});
            sum += static_cast<double>(factor);
            right_side += static_cast<double>(factor) * solution_at(other);
        });
        auto result = std::make_unique<Equation>();
        result->diagonal = kDominance * sum;
        result->right_side = right_side + result->diagonal * solution_at(row);
        result->couplings = couplings;  // a block of just this size
        return result;
    }

    // Never inlined, so that it rounds alike wherever it is called.
    [[gnu::noinline]] Cholesky factor(std::size_t group) const {
        const std::size_t begin = group_begins_[group];
        Cholesky result(group_begins_[group + 1] - begin);
        for (std::size_t row = begin; row < group_begins_[group + 1]; ++row) {
            result.at(row - begin, row - begin) = equations_[row]->diagonal;
            for (const Coupling &coupling : equations_[row]->couplings)
                if (coupling.column >= begin && coupling.column < row)
                    result.at(row - begin, coupling.column - begin) = static_cast<double>(coupling.factor);
        }
        result.factor();
        return result;
    }

    void solve(Worker &worker, const Share &share) {
        if (worker.index == 0)
            for (Reals *vector : {&solution_, &residual_, &corrected_, &direction_, &image_})
                vector->assign(equations_.size(), 0);
        team_.meet();
        for (std::size_t row = share.first_row; row < share.last_row; ++row)
            residual_[row] = equations_[row]->right_side;
        const double enough = kTolerance * kTolerance * product(worker, share, residual_, residual_);
        double progress = 0;
        for (unsigned iteration = 0; product(worker, share, residual_, residual_) > enough; ++iteration) {
            if (iteration == kMostIterations) fail("large-live: no solution after %u iterations", iteration);
            for (std::size_t group = share.first_group; group < share.last_group; ++group)
                factors_[group].solve(&residual_[group_begins_[group]], &corrected_[group_begins_[group]]);
            const double last = std::exchange(progress, product(worker, share, residual_, corrected_));
            const double keep = iteration == 0 ? 0 : progress / last;
            for (std::size_t row = share.first_row; row < share.last_row; ++row)
                direction_[row] = corrected_[row] + keep * direction_[row];
            team_.meet();
            for (std::size_t row = share.first_row; row < share.last_row; ++row)
                image_[row] = equations_[row]->row_times(direction_, row);
            const double step = progress / product(worker, share, direction_, image_);
            for (std::size_t row = share.first_row; row < share.last_row; ++row) {
                solution_[row] += step * direction_[row];
                residual_[row] -= step * image_[row];
            }
        }
    }

    double product(const Worker &worker, const Share &share, const Reals &left, const Reals &right) {
        double sum = 0;
        for (std::size_t row = share.first_row; row < share.last_row; ++row) sum += left[row] * right[row];
        return team_.sum(worker, sum);
    }

    void verify(const Share &share) const {
        for (std::size_t row = share.first_row; row < share.last_row; ++row) {
            const Equation &equation = *equations_[row];
            const double residual = equation.row_times(solution_, row) - equation.right_side;
            const double error = solution_[row] - solution_at(row);
            if (!(std::abs(residual) <= kResidualBound * equation.diagonal && std::abs(error) <= kErrorBound))
                fail("large-live: equation %zu has residual %g, error %g", row, residual, error);
        }
        for (std::size_t group = share.first_group; group < share.last_group; ++group)
            if (!(factor(group) == factors_[group]))
                fail("large-live: the factor of group %zu changed while it was held", group);
    }

    double bytes_of(const Share &share) const {
        std::size_t bytes = 0;
        for (std::size_t row = share.first_row; row < share.last_row; ++row)
            bytes += sizeof(Equation) + equations_[row]->couplings.size() * sizeof(Coupling);
        for (std::size_t group = share.first_group; group < share.last_group; ++group) bytes += factors_[group].bytes();
        return static_cast<double>(bytes);
    }

    // A thread that comes here knows that all threads have verified their share.
    void release(const Worker &worker, const Share &share) {
        for (std::size_t row = share.first_row; row < share.last_row; ++row) equations_[row].reset();
        for (std::size_t group = share.first_group; group < share.last_group; ++group) factors_[group] = {};
        if (worker.index == 0)
            for (Reals *vector : {&solution_, &residual_, &corrected_, &direction_, &image_}) *vector = Reals();
    }

    Random random_;
    Plate plate_;
    Team team_;
    std::vector<std::unique_ptr<Equation>> equations_;
    std::vector<std::size_t> group_begins_;
    std::vector<Cholesky> factors_;
    Reals solution_, residual_, corrected_, direction_, image_;
    double block_bytes_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
    std::size_t mib = 64;
    Workload large_live("large-live", "Builds a large sparse system of equations, keeps and solves it.",
                        {.threads = 14, .operations = 1});
    large_live.options().number("--mib", mib, "live at the peak, about; the paper's size is 600", {1, 1 << 17});
    if (!large_live.parse(argc, argv)) return large_live.exit_code();
    Solver solver((mib << 20) / kEquationBytes, large_live.settings());
    large_live.run([&](Worker &worker) { solver.work(worker); });
    large_live.note("build_seconds", solver.seconds.build);
    large_live.note("precondition_seconds", solver.seconds.precondition);
    large_live.note("solve_seconds", solver.seconds.solve);
    large_live.note("mean_block_bytes", solver.mean_block_bytes());
    large_live.note("requested_peak_bytes", solver.requested_peak_bytes());
    return large_live.report();
}
