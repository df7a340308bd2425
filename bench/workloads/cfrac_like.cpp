// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: how fast are tiny short-lived blocks, others staying among them, as big numbers need them?
//    Source: CFRAC in Wasik's thesis, 6.1.4 and tables 6.1 to 6.6, and cfrac in Evans' jemalloc paper. Their
//    program is not used: this is Morrison and Brillhart's method anew, a temporary of whose arithmetic is a
//    block of its own. --number takes the papers' numbers: Wasik's second (22 digits, the default) and first
//    (35) and Evans' (38). Only --drawn numbers depend on the seed. An operation is a factored number.
//    Source and, in brackets, ours, for 22 digits: 227,092 allocations (148,566) of 14.7 bytes on average
//    (14.3), 71.1% of them of 9 to 16 bytes (77.5%); 565 blocks live on average (420), 1,231 at most (926), or
//    18,395 bytes (30,368, for the elimination's rows). For 35 digits: 10,890,124 (7,570,589) of 17.7 bytes
//    (14.7), 60.5% (77.4%); 4,417 blocks live (3,181), at most 8,810 (6,771).
// Invariant: verifies that the factors found are the primes that the number was or is made of, and before that, for
//    each dependency, that its two squares are congruent.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <forward_list>
#include <numbers>
#include <string>
#include <string_view>

#include "workload.hpp"

namespace {

using namespace gr::bench;

// A natural number: one block, which its copies share and which never changes once the number is made.
class Number {
  public:
    using Limb = std::uint32_t;
    struct Division;

    explicit Number(std::uint64_t value) : Number(Limbs{2}) {
        limbs()[0] = static_cast<Limb>(value);
        limbs()[1] = static_cast<Limb>(value >> kLimbBits);
        trim();
    }
    explicit Number(std::string_view decimal) : Number(0) {
        for (const char digit : decimal) *this = *this * Number(10) + Number(static_cast<std::uint64_t>(digit - '0'));
    }
    Number(const Number &other) noexcept : block_(other.block_) { ++block_->owners; }
    Number(Number &&other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    Number &operator=(Number other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~Number() {
        if (block_ != nullptr && --block_->owners == 0) std::free(block_);
    }

    std::size_t length() const { return block_->length; }
    std::size_t bits() const {
        return length() == 0 ? 0 : (length() - 1) * kLimbBits + std::bit_width(limb(length() - 1));
    }
    bool is_word() const { return length() <= 2; }
    std::uint64_t word() const { return limb(0) | std::uint64_t{limb(1)} << kLimbBits; }

    friend bool operator==(const Number &a, const Number &b) { return (a <=> b) == 0; }
    friend std::strong_ordering operator<=>(const Number &a, const Number &b) {
        if (a.length() != b.length()) return a.length() <=> b.length();
        for (std::size_t i = a.length(); i-- > 0;)
            if (a.limb(i) != b.limb(i)) return a.limb(i) <=> b.limb(i);
        return std::strong_ordering::equal;
    }

    friend Number operator+(const Number &a, const Number &b) {
        Number sum(Limbs{std::max(a.length(), b.length()) + 1});
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < sum.length(); ++i, carry >>= kLimbBits)
            sum.limbs()[i] = static_cast<Limb>(carry += std::uint64_t{a.limb(i)} + b.limb(i));
        return sum.trim();
    }

    // a >= b.
    friend Number operator-(const Number &a, const Number &b) {
        Number difference(Limbs{a.length()});
        std::uint64_t borrow = 0;
        for (std::size_t i = 0; i < a.length(); ++i) {
            const std::uint64_t rest = std::uint64_t{a.limb(i)} - b.limb(i) - borrow;
            difference.limbs()[i] = static_cast<Limb>(rest);
            borrow = rest >> 63;
        }
        return difference.trim();
    }

    friend Number operator*(const Number &a, const Number &b) {
        Number product(Limbs{a.length() + b.length()});
        std::fill_n(product.limbs(), product.length(), 0);
        for (std::size_t i = 0; i < a.length(); ++i) {
            std::uint64_t carry = 0;
            for (std::size_t j = 0; j < b.length(); ++j, carry >>= kLimbBits)
                product.limbs()[i + j] =
                    static_cast<Limb>(carry += std::uint64_t{a.limb(i)} * b.limb(j) + product.limbs()[i + j]);
            product.limbs()[i + b.length()] = static_cast<Limb>(carry);
        }
        return product.trim();
    }

    static Division divide(const Number &dividend, const Number &divisor);
    friend Number operator/(const Number &a, const Number &b);
    friend Number operator%(const Number &a, const Number &b);

  private:
    static constexpr unsigned kLimbBits = 32;

    struct Block {
        std::uint16_t owners;
        std::uint16_t length;  // in limbs, which follow, the lowest first; the highest is not 0
    };
    struct Limbs {
        std::size_t count;
    };

    // Its limbs are still to be written.
    explicit Number(Limbs limbs) : block_(static_cast<Block *>(allocate(sizeof(Block) + limbs.count * sizeof(Limb)))) {
        *block_ = {.owners = 1, .length = static_cast<std::uint16_t>(limbs.count)};
    }
    Number &&trim() {
        while (block_->length > 0 && limbs()[block_->length - 1] == 0) --block_->length;
        return std::move(*this);
    }

    Limb *limbs() const { return reinterpret_cast<Limb *>(block_ + 1); }
    Limb limb(std::size_t i) const { return i < block_->length ? limbs()[i] : 0; }

    Number shifted_up(unsigned bits) const;
    Number shifted_down(unsigned bits) const;
    // Subtracts factor * divisor from the limbs at `offset` and above; whether that fell below 0.
    bool take(std::uint64_t factor, const Number &divisor, std::size_t offset);
    // Adds divisor to them; whether that was carried over the top.
    bool give(const Number &divisor, std::size_t offset);

    Block *block_;
};

struct Number::Division {
    Number quotient;
    Number remainder;
};

// Both by fewer bits than a limb has; shifted_up() adds a limb at the top, which stays even if it is 0.
Number Number::shifted_up(unsigned bits) const {
    Number shifted(Limbs{length() + 1});
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i <= length(); ++i, carry >>= kLimbBits)
        shifted.limbs()[i] = static_cast<Limb>(carry |= std::uint64_t{limb(i)} << bits);
    return shifted;
}

Number Number::shifted_down(unsigned bits) const {
    Number shifted(Limbs{length()});
    for (std::size_t i = 0; i < length(); ++i)
        shifted.limbs()[i] = static_cast<Limb>((limb(i) | std::uint64_t{limb(i + 1)} << kLimbBits) >> bits);
    return shifted.trim();
}

bool Number::take(std::uint64_t factor, const Number &divisor, std::size_t offset) {
    std::uint64_t carry = 0;  // of the product, and what the difference borrowed
    for (std::size_t i = 0; i <= divisor.length(); ++i) {
        carry += factor * divisor.limb(i);
        const std::uint64_t rest = std::uint64_t{limb(offset + i)} - static_cast<Limb>(carry);
        limbs()[offset + i] = static_cast<Limb>(rest);
        carry = (carry >> kLimbBits) + (rest >> 63);
    }
    return carry != 0;
}

bool Number::give(const Number &divisor, std::size_t offset) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i <= divisor.length(); ++i, carry >>= kLimbBits)
        limbs()[offset + i] = static_cast<Limb>(carry += std::uint64_t{limb(offset + i)} + divisor.limb(i));
    return carry != 0;
}

// Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D, its guess without the second digit of the divisor.
Number::Division Number::divide(const Number &dividend, const Number &divisor) {
    if (dividend.is_word() && divisor.is_word())
        return {Number(dividend.word() / divisor.word()), Number(dividend.word() % divisor.word())};
    if (dividend.length() < divisor.length()) return {Number(0), dividend};
    const auto shift = static_cast<unsigned>(std::countl_zero(divisor.limb(divisor.length() - 1)));
    Number rest = dividend.shifted_up(shift);
    const Number by = divisor.shifted_up(shift).trim();
    Number quotient(Limbs{rest.length() - by.length()});
    for (std::size_t i = quotient.length(); i-- > 0;) {
        const std::size_t top = i + by.length();
        const std::uint64_t head = rest.limb(top - 1) | std::uint64_t{rest.limb(top)} << kLimbBits;
        // Never too small, and too large by 2 at most.
        std::uint64_t digit = std::min<std::uint64_t>(head / by.limb(by.length() - 1), UINT32_MAX);
        for (bool below_zero = rest.take(digit, by, i); below_zero; --digit) below_zero = !rest.give(by, i);
        quotient.limbs()[i] = static_cast<Limb>(digit);
    }
    return {quotient.trim(), rest.trim().shifted_down(shift)};
}

Number operator/(const Number &a, const Number &b) { return Number::divide(a, b).quotient; }
Number operator%(const Number &a, const Number &b) { return Number::divide(a, b).remainder; }

Number gcd(Number a, Number b) {
    while (b != Number(0)) a = std::exchange(b, a % b);
    return a;
}

// Newton's method, from above.
Number square_root(const Number &square) {
    Number root(std::uint64_t{1} << (square.bits() + 1) / 2);
    for (;;) {
        const Number next = (root + square / root) / Number(2);
        if (next >= root) return root;
        root = next;
    }
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus) {
    __extension__ using Wide = unsigned __int128;
    Wide result = 1;
    for (Wide square = base % modulus; exponent != 0; exponent >>= 1, square = square * square % modulus)
        if (exponent & 1) result = result * square % modulus;
    return static_cast<std::uint64_t>(result);
}

// The continued fraction of the square root of n: after each step, convergent^2 = -residue or residue modulo n.
class ContinuedFraction {
  public:
    explicit ContinuedFraction(const Number &n) : n_(n), root_(square_root(n)) { step(); }

    void step() {
        auto [quotient, rest] = Number::divide(root_ + head_, denominator_);
        const Number head = root_ - rest;
        Number denominator = head > head_ ? before_ - quotient * (head - head_) : before_ + quotient * (head_ - head);
        before_ = std::exchange(denominator_, std::move(denominator));
        head_ = head;
        earlier_ = std::exchange(convergent_, (quotient * convergent_ + earlier_) % n_);
        negative_ = !negative_;
    }
    const Number &convergent() const { return convergent_; }
    const Number &residue() const { return denominator_; }
    bool negative() const { return negative_; }

  private:
    const Number n_;
    const Number root_;
    // The complete quotient is (root + head) / denominator, the one of the step before had the denominator `before`.
    Number head_ = Number(0);
    Number denominator_ = Number(1);
    Number before_ = n_;
    Number convergent_ = Number(1);
    Number earlier_ = Number(0);
    bool negative_ = false;
};

class Prime {
  public:
    explicit Prime(std::uint32_t value) : value_(value), limit_(UINT64_MAX / value) {
        // Newton's method: each turn doubles the low bits that are right, 3 at first.
        for (int turn = 0; turn < 5; ++turn) inverse_ *= 2 - value * inverse_;
    }
    std::uint32_t value() const { return value_; }
    // Of odd primes: only multiples lose nothing when they are multiplied by the inverse modulo 2^64.
    bool divides(std::uint64_t number) const { return value_ == 2 ? number % 2 == 0 : number * inverse_ <= limit_; }

  private:
    std::uint32_t value_;
    std::uint64_t inverse_ = value_;
    std::uint64_t limit_;
};

struct Power {
    std::uint32_t index;  // of the prime in the factor base
    std::uint32_t exponent;
};

// convergent^2 = the product of the powers, or its negative, modulo n
struct Relation {
    Number convergent;
    bool negative;
    std::forward_list<Power> powers;
};

bool is_prime(std::uint64_t candidate) {
    constexpr std::array<std::uint64_t, 12> kBases = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    for (const std::uint64_t base : kBases)
        if (candidate % base == 0) return candidate == base;
    const int twos = std::countr_zero(candidate - 1);
    return std::ranges::all_of(kBases, [&](std::uint64_t base) {
        std::uint64_t root = power(base, (candidate - 1) >> twos, candidate);
        if (root == 1) return true;
        for (int turn = 1; turn < twos && root != candidate - 1; ++turn) root = power(root, 2, candidate);
        return root == candidate - 1;
    });
}

// 2 and the odd primes modulo which n is a square: no other divides a residue.
std::vector<Prime> factor_base(const Number &n, std::size_t count) {
    std::vector<Prime> base{Prime(2)};
    for (std::uint32_t candidate = 3; base.size() < count; candidate += 2)
        if (is_prime(candidate) && power((n % Number(candidate)).word(), candidate / 2, candidate) == 1)
            base.emplace_back(candidate);
    return base;
}

// The powers whose product `number` is, or none if it has other factors.
std::forward_list<Power> divide_out(Number number, const std::vector<Prime> &base) {
    std::forward_list<Power> powers;
    std::uint64_t word = number.word();
    for (std::uint32_t index = 0; index < base.size(); ++index) {
        if (!base[index].divides(word)) continue;
        powers.push_front({.index = index, .exponent = 0});
        while (base[index].divides(word)) {
            number = number / Number(base[index].value());
            word = number.word();
            ++powers.front().exponent;
        }
    }
    if (word != 1) powers.clear();
    return powers;
}

// A sum of relations: the parities of its exponents, the first that of the sign, then one bit for each relation in it.
using Row = std::vector<std::uint64_t>;

bool bit(const Row &row, std::size_t index) { return (row[index / 64] >> index % 64 & 1) != 0; }
void flip(Row &row, std::size_t index) { row[index / 64] ^= std::uint64_t{1} << index % 64; }

Row row_of(const Relation &relation, std::size_t index, std::size_t parities, std::size_t relations) {
    Row row((parities + relations + 63) / 64);
    if (relation.negative) flip(row, 0);
    for (const Power &power : relation.powers)
        if (power.exponent % 2 != 0) flip(row, 1 + power.index);
    flip(row, parities + index);
    return row;
}

// A divisor of n from relations whose product is a square, be it 1 or n.
Number divisor_from(const Row &row, const std::vector<Relation> &relations, const std::vector<Prime> &base,
                    const Number &n) {
    Number x(1);
    std::vector<std::uint32_t> exponents(base.size());
    for (std::size_t index = 0; index < relations.size(); ++index) {
        if (!bit(row, base.size() + 1 + index)) continue;
        x = x * relations[index].convergent % n;
        for (const Power &power : relations[index].powers) exponents[power.index] += power.exponent;
    }
    Number y(1);
    for (std::size_t index = 0; index < base.size(); ++index)
        for (std::uint32_t half = exponents[index] / 2; half > 0; --half) y = y * Number(base[index].value()) % n;
    if (x * x % n != y * y % n) fail("cfrac-like: the squares of two numbers should be congruent and are not");
    return gcd(x + y, n);
}

// Gaussian elimination over GF(2); 1 if the relations give no other divisor.
Number divisor_from(const std::vector<Relation> &relations, const std::vector<Prime> &base, const Number &n) {
    const std::size_t parities = base.size() + 1;
    std::vector<Row> pivots(parities);
    for (std::size_t index = 0; index < relations.size(); ++index) {
        Row row = row_of(relations[index], index, parities, relations.size());
        std::size_t column = 0;
        for (; column < parities; ++column) {
            if (!bit(row, column)) continue;
            if (pivots[column].empty()) break;
            for (std::size_t word = 0; word < row.size(); ++word) row[word] ^= pivots[column][word];
        }
        if (column < parities) {
            pivots[column] = std::move(row);
            continue;
        }
        const Number divisor = divisor_from(row, relations, base, n);
        if (divisor != Number(1) && divisor != n) return divisor;
    }
    return Number(1);
}

// Near the best by the known analysis of the method: exp(sqrt(ln n ln ln n / 8)).
std::size_t base_size(const Number &n) {
    const double logarithm = static_cast<double>(n.bits()) * std::numbers::ln2;
    return static_cast<std::size_t>(std::exp(std::sqrt(logarithm * std::log(logarithm) / 8)));
}

// A divisor of n other than 1 and n, which has some.
Number divisor_of(const Number &n) {
    const std::vector<Prime> base = factor_base(n, base_size(n));
    std::vector<Relation> relations;
    for (ContinuedFraction fraction(n);; fraction.step()) {
        if (fraction.residue().word() == 1) fail("cfrac-like: the fraction of this number has too short a period");
        std::forward_list<Power> powers = divide_out(fraction.residue(), base);
        if (powers.empty()) continue;
        relations.push_back({fraction.convergent(), fraction.negative(), std::move(powers)});
        // With more relations than parities each further one is a chance of one half at least.
        if (relations.size() <= base.size() || relations.size() % 8 != 0) continue;
        const Number divisor = divisor_from(relations, base, n);
        if (divisor != Number(1)) return divisor;
    }
}

struct Input {
    std::string paper = "22";  // digits of a number of the papers, or
    std::size_t drawn = 0;     // of numbers to draw, unless it is 0
};

struct Primes {
    Number first;
    Number second;
};

Primes papers_primes(const std::string &digits) {
    if (digits == "22") return {Number("10000000019"), Number("100000000003")};
    if (digits == "35") return {Number("49384934934843479"), Number("845554345656569399")};
    return {Number("4839247443291043691"), Number("9832645123432343237")};
}

std::uint64_t prime_between(std::uint64_t first, std::uint64_t last, Random &random) {
    for (;;) {
        const std::uint64_t candidate = (first + random.next() % (last - first)) | 1;
        if (is_prime(candidate)) return candidate;
    }
}

// Two different primes of about the same length whose product has so many digits.
Primes drawn_primes(std::size_t digits, Random &random) {
    const std::uint64_t least = Number('1' + std::string(digits / 2 - 1, '0')).word();
    const Number first(prime_between(least, 3 * least, random));
    const std::uint64_t rest = (Number('1' + std::string(digits - 1, '0')) / first).word();
    return {first, Number(prime_between(rest + 1, 9 * rest, random))};
}

void work(const Input &input, Worker &worker) {
    for (; worker.more(); worker.did(1)) {
        const auto [first, second] =
            input.drawn == 0 ? papers_primes(input.paper) : drawn_primes(input.drawn, worker.random);
        const Number n = first * second;
        const Number found = divisor_of(n);
        const Number other = n / found;
        if ((found != first || other != second) && (found != second || other != first))
            fail("cfrac-like: a number has other factors than were found");
    }
}

}  // namespace

int main(int argc, char **argv) {
    Input input;
    Workload cfrac("cfrac-like", "Factors numbers by continued fractions, each temporary a block of its own.",
                   {.threads = 1, .seconds = 5});
    cfrac.options().word("--number", input.paper, "of the papers, by its digits", {"22", "35", "38"});
    cfrac.options().number("--drawn", input.drawn, "draw numbers of so many digits instead", {16, 36});
    cfrac.options().exclude("--drawn", "--number");
    if (!cfrac.parse(argc, argv)) return cfrac.exit_code();
    cfrac.run([&](Worker &worker) { work(input, worker); });
    return cfrac.report();
}
