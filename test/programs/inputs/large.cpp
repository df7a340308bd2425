// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a translation unit that makes a compiler work: many standard headers, several instantiations of each.
// Invariant: needs nothing but the standard library, and compiles with gcc and clang alike.
// Must not know: the allocator.
#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

template <int N>
struct Key {
    int value = N;
    bool operator<(const Key &other) const { return value < other.value; }
    bool operator==(const Key &other) const = default;
};

template <int N>
struct Hash {
    std::size_t operator()(const Key<N> &key) const { return static_cast<std::size_t>(key.value) * 31U + N; }
};

template <int N>
int containers() {
    std::map<Key<N>, std::vector<std::string>> ordered;
    std::unordered_map<Key<N>, std::deque<double>, Hash<N>> hashed;
    std::set<std::pair<Key<N>, std::string>> pairs;
    for (int i = 0; i < N; ++i) {
        ordered[Key<N>{i}].push_back(std::to_string(i));
        hashed[Key<N>{i}].push_front(i * 0.5);
        pairs.emplace(Key<N>{i}, "entry");
    }
    return static_cast<int>(ordered.size() + hashed.size() + pairs.size());
}

template <int N>
int algorithms() {
    std::vector<std::tuple<int, std::string, std::array<char, N>>> rows(N);
    std::mt19937 random(N);
    std::shuffle(rows.begin(), rows.end(), random);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto &a, const auto &b) { return std::get<1>(a) < std::get<1>(b); });
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return std::accumulate(rows.begin(), rows.end(), 0,
                           [](int sum, const auto &row) { return sum + std::get<0>(row); });
}

template <int N>
using Value = std::variant<int, double, std::string, Key<N>, std::vector<Key<N>>, std::shared_ptr<Key<N + 1>>>;

template <int N>
std::size_t visitors(const Value<N> &left, const Value<N> &right) {
    return std::visit([](const auto &a, const auto &b) { return sizeof(a) + sizeof(b); }, left, right);
}

template <int N>
int callbacks() {
    std::function<int(int)> chain = [](int x) { return x; };
    for (int i = 0; i < N; ++i) chain = [chain, i](int x) { return chain(x) + i; };
    std::future<int> later = std::async(std::launch::deferred, chain, N);
    return later.get() + static_cast<int>(visitors<N>(Value<N>{N}, Value<N>{std::string("text")}));
}

template <typename Character>
bool expressions(const Character *pattern, const Character *text) {
    const std::basic_regex<Character> expression(pattern, std::regex::icase | std::regex::optimize);
    std::match_results<const Character *> match;
    return std::regex_search(text, match, expression) && match.size() > 1;
}

template <int... Numbers>
int everything(std::integer_sequence<int, Numbers...>) {
    return ((containers<Numbers + 1>() + algorithms<Numbers + 1>() + callbacks<Numbers + 1>()) + ...);
}

}  // namespace

int main(int count, char **words) {
    std::ostringstream text;
    text << everything(std::make_integer_sequence<int, INSTANTIATIONS>()) << expressions("(a|b)+c*", words[0]);
    text << expressions(L"([[:alpha:]]+)-\\1", L"text-text") << std::filesystem::path(words[count - 1]).stem();
    std::cout << text.str() << '\n';
}
