// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: flame.hpp.
// Invariant: in the tree of stacks a parent's number is less than its children's. Functions of one file without names, one
//    called by another, are one node.
// Must not know: what the numbers are.
#include "reporting/charts/flame.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "reporting/steps/time_axis.hpp"

namespace gr::tool {

namespace {

using Nodes = std::vector<std::uint32_t>;

// Of each stack the largest share that it and what it called has in any measure.
std::vector<double> importance(const std::vector<StackMeasure> &measures, const std::vector<trace::StackNode> &stacks) {
    std::vector<double> most(stacks.size());
    for (const StackMeasure &measure : measures) {
        std::vector<double> sums = measure.values;
        for (std::size_t i = sums.size() - 1; i > 0; --i) sums[trace::number_of(stacks[i].parent)] += sums[i];
        if (sums[0] <= 0) continue;
        for (std::size_t i = 0; i < sums.size(); ++i) most[i] = std::max(most[i], sums[i] / sums[0]);
    }
    return most;
}

class Tree {
  public:
    Tree(std::string title, const std::vector<StackMeasure> &measures, const std::vector<double> &importance,
         std::size_t most_nodes, CallSites &sites, bool has_threads)
        : has_threads_(has_threads) {
        chart_.title = std::move(title);
        chart_.parents = {0};
        chart_.frames = {-1};
        place(importance, most_nodes, sites);
        std::transform(measures.begin(), measures.end(), std::back_inserter(chart_.measures),
                       [&](const StackMeasure &measure) { return measured(measure); });
    }
    [[nodiscard]] std::size_t parts() const { return parts_; }
    [[nodiscard]] FlameChart &chart() { return chart_; }

  private:
    using Sums = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;  // by node and thread

    void place(const std::vector<double> &importance, std::size_t most_nodes, CallSites &sites) {
        double least = 0;
        if (importance.size() > most_nodes) {
            std::vector<double> sorted = importance;
            const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(most_nodes);
            std::nth_element(sorted.begin(), at, sorted.end(), std::greater<>());
            least = *at;
        }
        node_of_.assign(importance.size(), 0);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> children;
        for (std::size_t i = 1; i < importance.size(); ++i) {
            const trace::StackNode &stack = sites.stacks()[i];
            node_of_[i] = node_of_[trace::number_of(stack.parent)];
            if (importance[i] <= least) continue;
            for (const std::uint32_t frame : sites.frames_of(stack.address)) {
                const bool is_again = chart_.frames[node_of_[i]] == static_cast<std::int32_t>(frame);
                if (is_again && sites.is_of_many(frame)) continue;
                const auto [at, is_new] =
                    children.try_emplace({node_of_[i], frame}, static_cast<std::uint32_t>(chart_.parents.size()));
                if (is_new) {
                    chart_.parents.push_back(node_of_[i]);
                    chart_.frames.push_back(static_cast<std::int32_t>(frame));
                }
                node_of_[i] = at->second;
            }
        }
    }
    FlameChart::Measure measured(const StackMeasure &measure) {
        FlameChart::Measure made{measure.name, measure.unit, {}, {}, measure.is_running, {}};
        if (measure.parts.empty()) {
            made.values.resize(chart_.parents.size());
            for (std::size_t i = 0; i < measure.values.size(); ++i) made.values[node_of_[i]] += measure.values[i];
            Sums sums;
            for (const StackMeasure::Part &part : measure.by_thread) add(part, &sums);
            if (has_threads_) made.by_thread = slice_of(sums);
            return made;
        }
        std::vector<Sums> slices(TimeAxis::kSlices);
        for (const StackMeasure::Part &part : measure.parts) add(part, &slices[part.slice]);
        for (const Sums &sums : slices) made.slices.push_back(slice_of(sums));
        return made;
    }
    void add(const StackMeasure::Part &part, Sums *sums) const {
        (*sums)[{node_of_[part.stack], has_threads_ ? part.thread : 0}] += part.value;
    }
    FlameChart::Slice slice_of(const Sums &sums) {
        FlameChart::Slice slice;
        for (const auto &[at, value] : sums) {
            slice.nodes.push_back(at.first);
            slice.values.push_back(value);
            if (has_threads_) slice.threads.push_back(at.second);
        }
        parts_ += sums.size();
        return slice;
    }

    bool has_threads_;
    FlameChart chart_;
    Nodes node_of_;
    std::size_t parts_ = 0;
};

}  // namespace

FlameChart flame_of(const std::string &title, const std::vector<StackMeasure> &measures, CallSites &sites,
                    bool has_threads) {
    const std::vector<double> shares = importance(measures, sites.stacks());
    for (std::size_t nodes = kMostNodes;; nodes /= 2) {
        Tree tree(title, measures, shares, nodes, sites, has_threads);
        const bool fits = tree.parts() <= kMostParts && tree.chart().parents.size() <= kMostNodes + 1;
        if (fits || nodes <= 1) return std::move(tree.chart());
    }
}

}  // namespace gr::tool
