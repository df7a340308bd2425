// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do temporaries of C++ cost, allocated with new[] and gone at the end of an expression?
//    Source: ROBOOP's bench in Wasik's thesis, 6.1.10 and tables 6.1 to 6.6. Neither program nor robot are
//    used; the thesis does not say which operations bench times, only that there are three stretches of
//    different behaviour: here each time step has forward kinematics, Jacobian and inverse dynamics of an
//    arm of six joints. An operation is such a time step of 1 ms, about 337 allocations.
//    Source and, in brackets, ours: 34.7 bytes on average (37.8), 54.6% of them of 17 to 24 bytes (80.3%),
//    none smaller than 8 (the same); 67 blocks live on average (45), 117 at most (62), or 15,960 bytes (4,048;
//    the source's largest block of 8,200 bytes looks like a stream's buffer).
// Invariant: verifies in each step that the hand's rotation is orthogonal; in every 32nd that the hand's speed by the
//    Jacobian agrees with differences of its pose, and a joint's torque with Lagrange's equation.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <numbers>

#include "workload.hpp"

namespace {

using namespace gr::bench;

// Its elements are a block of their own; every operation makes a new matrix.
class Matrix {
  public:
    // Zero.
    Matrix(std::size_t rows, std::size_t columns)
        : rows_(rows), columns_(columns), elements_(std::make_unique<double[]>(rows * columns)) {}
    // Row by row.
    Matrix(std::size_t rows, std::size_t columns, std::initializer_list<double> elements) : Matrix(rows, columns) {
        std::copy(elements.begin(), elements.end(), elements_.get());
    }

    double &at(std::size_t row, std::size_t column) { return elements_[row * columns_ + column]; }
    double at(std::size_t row, std::size_t column) const { return elements_[row * columns_ + column]; }

    void set(std::size_t row, std::size_t column, const Matrix &block) {
        for (std::size_t i = 0; i < block.rows_; ++i)
            for (std::size_t j = 0; j < block.columns_; ++j) at(row + i, column + j) = block.at(i, j);
    }
    Matrix block(std::size_t row, std::size_t column, std::size_t rows, std::size_t columns) const {
        return made(rows, columns, [&](std::size_t i, std::size_t j) { return at(row + i, column + j); });
    }
    Matrix transposed() const {
        return made(columns_, rows_, [&](std::size_t i, std::size_t j) { return at(j, i); });
    }
    friend Matrix operator+(const Matrix &a, const Matrix &b) {
        return made(a.rows_, a.columns_, [&](std::size_t i, std::size_t j) { return a.at(i, j) + b.at(i, j); });
    }
    friend Matrix operator-(const Matrix &a, const Matrix &b) {
        return made(a.rows_, a.columns_, [&](std::size_t i, std::size_t j) { return a.at(i, j) - b.at(i, j); });
    }
    friend Matrix operator*(const Matrix &a, double factor) {
        return made(a.rows_, a.columns_, [&](std::size_t i, std::size_t j) { return a.at(i, j) * factor; });
    }
    friend Matrix operator*(const Matrix &a, const Matrix &b) {
        return made(a.rows_, b.columns_, [&](std::size_t i, std::size_t j) {
            double sum = 0;
            for (std::size_t k = 0; k < a.columns_; ++k) sum += a.at(i, k) * b.at(k, j);
            return sum;
        });
    }

    // The largest absolute value of its elements.
    double norm() const {
        double norm = 0;
        for (std::size_t i = 0; i < rows_ * columns_; ++i) norm = std::max(norm, std::abs(elements_[i]));
        return norm;
    }

  private:
    template <typename Element>
    static Matrix made(std::size_t rows, std::size_t columns, Element element) {
        Matrix result(rows, columns);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j) result.at(i, j) = element(i, j);
        return result;
    }

    std::size_t rows_;
    std::size_t columns_;
    std::unique_ptr<double[]> elements_;
};

Matrix vector(double x, double y, double z) { return Matrix(3, 1, {x, y, z}); }

Matrix cross(const Matrix &a, const Matrix &b) {
    return vector(a.at(1, 0) * b.at(2, 0) - a.at(2, 0) * b.at(1, 0), a.at(2, 0) * b.at(0, 0) - a.at(0, 0) * b.at(2, 0),
                  a.at(0, 0) * b.at(1, 0) - a.at(1, 0) * b.at(0, 0));
}

double dot(const Matrix &a, const Matrix &b) { return (a.transposed() * b).at(0, 0); }

Matrix identity(std::size_t size) {
    Matrix result(size, size);
    for (std::size_t i = 0; i < size; ++i) result.at(i, i) = 1;
    return result;
}

// Of homogeneous transformations.
Matrix rotation(const Matrix &transformation) { return transformation.block(0, 0, 3, 3); }
Matrix offset(const Matrix &transformation) { return transformation.block(0, 3, 3, 1); }

// A turning joint and what it turns, after Denavit and Hartenberg; metres, kilograms, radians.
struct Link {
    double length;
    double twist;
    double distance;
    double mass;
    Matrix centre;  // of the mass, in the frame at the link's end
    Matrix inertia;

    Matrix transformation(double angle) const {
        const double c = std::cos(angle), s = std::sin(angle);
        const double ct = std::cos(twist), st = std::sin(twist);
        return Matrix(4, 4,
                      {c, -s * ct, s * st, length * c,  //
                       s, c * ct, -c * st, length * s,  //
                       0, st, ct, distance,             //
                       0, 0, 0, 1});
    }
};

constexpr std::size_t kJoints = 6;
constexpr double kGravity = 9.81;

Matrix diagonal(double x, double y, double z) { return Matrix(3, 3, {x, 0, 0, 0, y, 0, 0, 0, z}); }

// Shoulder, elbow and a spherical wrist; no arm that is built, but of the usual proportions.
std::array<Link, kJoints> make_links() {
    constexpr double kRight = std::numbers::pi / 2;
    return {{
        {0, kRight, 0.5, 12, vector(0, -0.2, 0.02), diagonal(0.3, 0.2, 0.3)},
        {0.43, 0, 0.1, 17, vector(-0.25, 0.01, 0.1), diagonal(0.13, 0.52, 0.54)},
        {0.02, -kRight, 0.05, 5, vector(-0.02, 0.01, 0.07), diagonal(0.07, 0.08, 0.01)},
        {0, kRight, 0.43, 0.8, vector(0, 0.02, 0), diagonal(0.002, 0.001, 0.002)},
        {0, -kRight, 0, 0.35, vector(0, 0, 0.01), diagonal(0.0003, 0.0004, 0.0003)},
        {0, 0, 0.06, 0.1, vector(0, 0, 0.03), diagonal(0.0002, 0.0002, 0.0001)},
    }};
}

// Each joint swings; columns of angles, speeds and accelerations.
struct Motion {
    Matrix angle{kJoints, 1};
    Matrix speed{kJoints, 1};
    Matrix acceleration{kJoints, 1};
};

class Swing {
  public:
    explicit Swing(Random &random) {
        for (Joint &joint : joints_)
            joint = {.amplitude = 0.2 + fraction(random),
                     .frequency = 0.5 + 2 * fraction(random),
                     .phase = 6 * fraction(random)};
    }
    Motion at(double time) const {
        Motion motion;
        for (std::size_t i = 0; i < kJoints; ++i) {
            const auto [amplitude, frequency, phase] = joints_[i];
            const double angle = frequency * time + phase;
            motion.angle.at(i, 0) = amplitude * std::sin(angle);
            motion.speed.at(i, 0) = amplitude * frequency * std::cos(angle);
            motion.acceleration.at(i, 0) = -amplitude * frequency * frequency * std::sin(angle);
        }
        return motion;
    }

  private:
    struct Joint {
        double amplitude;
        double frequency;
        double phase;
    };
    static double fraction(Random &random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

    std::array<Joint, kJoints> joints_;
};

class Arm {
  public:
    // Of the base and of each link, seen from the base.
    std::vector<Matrix> frames(const Matrix &angle) const {
        std::vector<Matrix> frames;
        frames.reserve(kJoints + 1);
        frames.push_back(identity(4));
        for (std::size_t i = 0; i < kJoints; ++i)
            frames.push_back(frames.back() * links_[i].transformation(angle.at(i, 0)));
        return frames;
    }

    Matrix hand(const Matrix &angle) const { return std::move(frames(angle).back()); }

    // Takes the joints' speeds to the hand's velocity and, below, its angular velocity.
    Matrix jacobian(const std::vector<Matrix> &frames) const {
        Matrix jacobian(6, kJoints);
        for (std::size_t i = 0; i < kJoints; ++i) {
            const Matrix axis = rotation(frames[i]) * kAxis;
            jacobian.set(0, i, cross(axis, offset(frames[kJoints]) - offset(frames[i])));
            jacobian.set(3, i, axis);
        }
        return jacobian;
    }

    // Newton's and Euler's equations in each link's own frame: outwards the motion, inwards forces and moments.
    Matrix torque(const Motion &motion) const {
        std::vector<Load> loads = this->loads(motion);
        Matrix torque(kJoints, 1);
        Matrix force(3, 1);
        Matrix moment(3, 1);
        for (std::size_t i = kJoints; i-- > 0;) {
            const Load &load = loads[i];
            moment = moment + cross(load.lever, force) + cross(load.lever + links_[i].centre, load.force) + load.moment;
            force = force + load.force;
            moment = load.turn * moment;
            force = load.turn * force;
            torque.at(i, 0) = dot(moment, kAxis);
        }
        return torque;
    }

    // The kinetic energy less the potential, from velocities in the base's frame: not the way torque() goes.
    double lagrangian(const Motion &motion) const {
        const std::vector<Matrix> frames = this->frames(motion.angle);
        double lagrangian = 0;
        Matrix spin(3, 1);
        Matrix velocity(3, 1);
        for (std::size_t i = 0; i < kJoints; ++i) {
            spin = spin + rotation(frames[i]) * kAxis * motion.speed.at(i, 0);
            velocity = velocity + cross(spin, offset(frames[i + 1]) - offset(frames[i]));
            const Matrix turn = rotation(frames[i + 1]);
            const Matrix centre = turn * links_[i].centre;
            const Matrix of_centre = velocity + cross(spin, centre);
            const Matrix own_spin = turn.transposed() * spin;
            const double height = (offset(frames[i + 1]) + centre).at(2, 0);
            lagrangian += links_[i].mass * (dot(of_centre, of_centre) / 2 - kGravity * height);
            lagrangian += dot(own_spin, links_[i].inertia * own_spin) / 2;
        }
        return lagrangian;
    }

  private:
    // What a link does and needs, in its own frame.
    struct Load {
        Matrix turn;   // from this frame to the one before
        Matrix lever;  // from the origin of the frame before to this one's
        Matrix force;
        Matrix moment;
    };

    std::vector<Load> loads(const Motion &motion) const {
        std::vector<Load> loads;
        loads.reserve(kJoints);
        Matrix spin(3, 1);
        Matrix spinning(3, 1);
        Matrix acceleration = kAxis * kGravity;  // as if the base flew upwards: that is gravity
        for (std::size_t i = 0; i < kJoints; ++i) {
            const Link &link = links_[i];
            const Matrix transformation = link.transformation(motion.angle.at(i, 0));
            Matrix turn = rotation(transformation);
            const Matrix back = turn.transposed();
            Matrix lever = back * offset(transformation);
            const Matrix joint_spin = kAxis * motion.speed.at(i, 0);
            spinning = back * (spinning + kAxis * motion.acceleration.at(i, 0) + cross(spin, joint_spin));
            spin = back * (spin + joint_spin);
            acceleration = back * acceleration + cross(spinning, lever) + cross(spin, cross(spin, lever));
            const Matrix of_centre =
                acceleration + cross(spinning, link.centre) + cross(spin, cross(spin, link.centre));
            Matrix moment = link.inertia * spinning + cross(spin, link.inertia * spin);
            loads.push_back({std::move(turn), std::move(lever), of_centre * link.mass, std::move(moment)});
        }
        return loads;
    }

    const Matrix kAxis = vector(0, 0, 1);  // of every joint in the frame before it
    const std::array<Link, kJoints> links_ = make_links();
};

void require(double error, const char *what) {
    if (!(error < 1e-4)) fail("roboop-like: %s is off by %g", what, error);
}

// By one joint's angle or speed.
double derivative_of_lagrangian(const Arm &arm, Motion motion, Matrix Motion::*of, std::size_t joint, double step) {
    (motion.*of).at(joint, 0) += step;
    const double above = arm.lagrangian(motion);
    (motion.*of).at(joint, 0) -= 2 * step;
    return (above - arm.lagrangian(motion)) / (2 * step);
}

struct Found {
    Matrix hand_speed;  // velocity and, below, angular velocity
    Matrix torque;
};

// What the arm found for an instant against differences over a short time, the torque of one joint by Lagrange's
// equation.
void verify(const Arm &arm, const Swing &swing, double time, std::size_t joint, const Found &found) {
    constexpr double kStep = 1e-5;
    const double before = time - kStep;
    const double after = time + kStep;

    const Matrix change = (arm.hand(swing.at(after).angle) - arm.hand(swing.at(before).angle)) * (1 / (2 * kStep));
    const Matrix turning = rotation(change) * rotation(arm.hand(swing.at(time).angle)).transposed();
    Matrix hand_speed(6, 1);
    hand_speed.set(0, 0, offset(change));
    hand_speed.set(3, 0, vector(turning.at(2, 1), turning.at(0, 2), turning.at(1, 0)));
    require((found.hand_speed - hand_speed).norm(), "the Jacobian");

    const auto momentum = [&](double at) {
        return derivative_of_lagrangian(arm, swing.at(at), &Motion::speed, joint, 1);  // of a square: any step is exact
    };
    const double torque = (momentum(after) - momentum(before)) / (2 * kStep) -
                          derivative_of_lagrangian(arm, swing.at(time), &Motion::angle, joint, kStep);
    require(std::abs(found.torque.at(joint, 0) - torque), "a torque");
}

void work(Worker &worker) {
    constexpr double kPeriod = 1e-3;
    constexpr std::uint64_t kSteps = 100000;   // then from the start, since differences lose digits as time grows
    constexpr std::uint64_t kUnverified = 32;  // steps for each that is verified in full
    const Arm arm;
    const Swing swing(worker.random);
    for (; worker.more(); worker.did(1)) {
        const double time = static_cast<double>(worker.done() % kSteps) * kPeriod;
        const Motion motion = swing.at(time);
        const std::vector<Matrix> frames = arm.frames(motion.angle);
        const Matrix turn = rotation(frames.back());
        require((turn.transposed() * turn - identity(3)).norm(), "the hand's rotation");
        const Found found{arm.jacobian(frames) * motion.speed, arm.torque(motion)};
        if (worker.done() % kUnverified == 0) verify(arm, swing, time, worker.done() / kUnverified % kJoints, found);
    }
}

}  // namespace

int main(int argc, char **argv) {
    Workload roboop("roboop-like",
                    "Kinematics and dynamics of a robot's arm, each temporary matrix a block of its own.",
                    {.threads = 1, .seconds = 2});
    if (!roboop.parse(argc, argv)) return roboop.exit_code();
    roboop.run(work);
    return roboop.report();
}
