// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: growth_flame.hpp.
// Invariant: as there. In a tree a parent's number is less than its children's.
// Must not know: traces.
#include "commands/diff/growth_flame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "reporting/charts/flame.hpp"

namespace gr::tool {

namespace {

struct Node {
    std::uint32_t parent = 0;
    const Frame *frame = nullptr;
    Use before;
    Use after;
};
using Nodes = std::vector<Node>;

class Merged {
  public:
    Merged() : nodes_(1) {}

    void add(const std::vector<CallNode> &tree, Use Node::*use) {
        std::vector<std::uint32_t> places(tree.size());
        nodes_[0].*use = tree[0].use;
        for (std::size_t i = 1; i < tree.size(); ++i) {
            const std::uint32_t parent = places[tree[i].parent];
            const auto [at, is_new] = children_.try_emplace({parent, tree[i].frame.name, tree[i].frame.file},
                                                            static_cast<std::uint32_t>(nodes_.size()));
            if (is_new) nodes_.push_back({parent, &tree[i].frame, {}, {}});
            places[i] = at->second;
            nodes_[at->second].*use = tree[i].use;
        }
    }
    [[nodiscard]] const Nodes &nodes() const { return nodes_; }

  private:
    Nodes nodes_;
    std::map<std::tuple<std::uint32_t, std::string, std::string>, std::uint32_t> children_;
};

std::vector<double> own_values(const Nodes &nodes, const std::function<double(const Node &)> &take) {
    constexpr double kRounding = 0.5;  // what sums of estimates leave of nothing
    std::vector<double> values;
    for (const Node &node : nodes) {
        const double value = take(node);
        values.push_back(value < kRounding ? 0 : value);
    }
    return values;
}

// Only those of which there is anything.
std::vector<FlameChart::Measure> measures_of(const Nodes &nodes) {
    struct Number {
        const char *when;
        double Use::*number;
    };
    constexpr Number kNumbers[] = {
        {"at the peak", &Use::at_peak}, {"allocated", &Use::bytes}, {"at the end", &Use::at_end}};
    std::vector<FlameChart::Measure> measures;
    for (const Number &one : kNumbers) {
        const auto at = one.number;
        const auto add = [&](const char *what, const std::function<double(const Node &)> &take) {
            std::vector<double> values = own_values(nodes, take);
            if (std::ranges::all_of(values, [](double value) { return value == 0; })) return;
            measures.push_back({fmt::format("{} {}", what, one.when), Unit::bytes, std::move(values), {}, false});
        };
        add("more", [at](const Node &node) { return node.after.*at - node.before.*at; });
        add("less", [at](const Node &node) { return node.before.*at - node.after.*at; });
    }
    return measures;
}

// Of each node the largest share that it and what it calls has in any measure.
std::vector<double> importance(const Nodes &nodes, const std::vector<FlameChart::Measure> &measures) {
    std::vector<double> most(nodes.size());
    for (const FlameChart::Measure &measure : measures) {
        std::vector<double> sums = measure.values;
        for (std::size_t i = sums.size() - 1; i > 0; --i) sums[nodes[i].parent] += sums[i];
        if (sums[0] <= 0) continue;
        for (std::size_t i = 0; i < sums.size(); ++i) most[i] = std::max(most[i], sums[i] / sums[0]);
    }
    return most;
}

double least_shown(std::vector<double> shares) {
    if (shares.size() <= kMostNodes) return 0;
    const auto at = shares.begin() + static_cast<std::ptrdiff_t>(kMostNodes);
    std::nth_element(shares.begin(), at, shares.end(), std::greater<>());
    return *at;
}

}  // namespace

FlameChart growth_flame(const ProgramUse &before, const ProgramUse &after, std::vector<Frame> *frames) {
    Merged merged;
    merged.add(before.calls_tree, &Node::before);
    merged.add(after.calls_tree, &Node::after);
    const Nodes &nodes = merged.nodes();
    const std::vector<FlameChart::Measure> measures = measures_of(nodes);
    const std::vector<double> shares = importance(nodes, measures);
    const double least = least_shown(shares);
    FlameChart chart{"Call stacks that grew or shrank from A to B", {0}, {-1}, {}};
    std::vector<std::uint32_t> places(nodes.size());
    std::map<std::pair<std::string, std::string>, std::int32_t> known;
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        places[i] = places[nodes[i].parent];
        if (shares[i] <= least) continue;
        const Frame &frame = *nodes[i].frame;
        const auto [at, is_new] =
            known.try_emplace({frame.name, frame.file}, static_cast<std::int32_t>(frames->size()));
        if (is_new) frames->push_back(frame);
        chart.parents.push_back(places[i]);
        chart.frames.push_back(at->second);
        places[i] = static_cast<std::uint32_t>(chart.parents.size() - 1);
    }
    for (const FlameChart::Measure &measure : measures) {
        FlameChart::Measure &shown = chart.measures.emplace_back(
            FlameChart::Measure{measure.name, measure.unit, std::vector<double>(chart.parents.size()), {}, false});
        for (std::size_t i = 0; i < nodes.size(); ++i) shown.values[places[i]] += measure.values[i];
    }
    return chart;
}

}  // namespace gr::tool
