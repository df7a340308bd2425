// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what does an allocator cost a program that seldom calls it and whose blocks live equally long?
//    Source: Lindsay in Wasik's thesis, 6.1.11 and tables 6.1 to 6.6. The thesis says no more than that it is
//    a hypercube simulation with few requests; the rest is ours: in each step all nodes use their links in one
//    dimension, so that a message takes its dimensions in order, beginning with the present one, and most
//    arrive after 10 to 12 steps. The source's largest block, 1,490,944 bytes, is 4,096 times 364: hence 12
//    dimensions. An operation is a delivered message.
//    Source and, in brackets, ours for as many messages: 108,790 allocations (108,792) of 67.8 bytes on
//    average (71.7), 93.0% of them of 49 to 56 bytes (all but two); 207 blocks live on average (216), 296 at
//    most (244), or 1,915,712 bytes (1,717,488, of which 1,572,864 in one block).
// Invariant: verifies each message's payload when it arrives, and at the end that each node received the messages sent
//    to it, each once, over as many links as the two addresses differ in bits.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <array>
#include <bit>
#include <new>

#include "workload.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    unsigned dimensions = 12;
    unsigned rate = 19;  // messages sent in a step
};

struct Message {
    Message *next;
    std::uint32_t source;
    std::uint32_t destination;
    std::uint64_t number;
    std::array<std::uint64_t, 4> payload;
};

// What a message of this number carries.
std::array<std::uint64_t, 4> payload_of(std::uint64_t number) {
    Random random(number);
    return {random.next(), random.next(), random.next(), random.next()};
}

// From a node to its neighbour in one dimension; carries one message in a step.
struct Link {
    Message *first = nullptr;
    Message *last = nullptr;
    std::uint32_t waiting = 0;
    std::uint32_t longest = 0;
    std::uint64_t carried = 0;

    void push(Message *message) {
        message->next = nullptr;
        (first == nullptr ? first : last->next) = message;
        last = message;
        longest = std::max(longest, ++waiting);
    }
    Message *pop() {
        Message *const message = first;
        first = message->next;
        --waiting;
        ++carried;
        return message;
    }
};

// Sums of the messages' numbers, which are random: a lost message and one that came twice do not cancel out.
struct Node {
    std::uint64_t due = 0;
    std::uint64_t due_sum = 0;
    std::uint64_t received = 0;
    std::uint64_t received_sum = 0;
};

struct Summary {
    std::uint64_t peak_bytes = 0;
    std::uint32_t longest_queue = 0;
};

// In a step all nodes use their links in one dimension, in the next step those in the next.
class Cube {
  public:
    explicit Cube(unsigned dimensions)
        : dimensions_(dimensions), nodes_(std::size_t{1} << dimensions), links_(nodes_.size() * dimensions) {}

    std::uint64_t in_flight() const { return in_flight_; }
    Summary summary() const {
        Summary summary = {.peak_bytes = nodes_.size() * sizeof(Node) + links_.size() * sizeof(Link) +
                                         most_in_flight_ * sizeof(Message)};
        for (const Link &link : links_) summary.longest_queue = std::max(summary.longest_queue, link.longest);
        return summary;
    }

    // From any node to any other.
    void send(Random &random) {
        const auto source = static_cast<std::uint32_t>(random.below(nodes_.size()));
        const auto way = static_cast<std::uint32_t>(random.between(1, nodes_.size() - 1));
        const std::uint64_t number = random.next();
        auto *const message =
            new (allocate(sizeof(Message))) Message{nullptr, source, source ^ way, number, payload_of(number)};
        ++nodes_[message->destination].due;
        nodes_[message->destination].due_sum += number;
        most_in_flight_ = std::max(most_in_flight_, ++in_flight_);
        queue(message, source);
    }

    // How many messages arrived.
    std::uint64_t step() {
        const std::uint64_t before = in_flight_;
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            Link &link = links_[std::size_t{node} * dimensions_ + dimension_];
            if (link.first == nullptr) continue;
            const std::uint32_t neighbour = node ^ (1U << dimension_);
            Message *const message = link.pop();
            if (message->destination == neighbour)
                receive(message, nodes_[neighbour]);
            else
                queue(message, neighbour);
        }
        dimension_ = (dimension_ + 1) % dimensions_;
        return before - in_flight_;
    }

    // When nothing is in flight.
    void verify() const {
        for (const Node &node : nodes_)
            if (node.received != node.due || node.received_sum != node.due_sum)
                fail("hypercube-like: a node received %llu messages for %llu, or others",
                     static_cast<unsigned long long>(node.received), static_cast<unsigned long long>(node.due));
        std::uint64_t carried = 0;
        for (const Link &link : links_) carried += link.carried;
        if (carried != hops_)
            fail("hypercube-like: messages took %llu hops for %llu", static_cast<unsigned long long>(carried),
                 static_cast<unsigned long long>(hops_));
    }

  private:
    // For the first dimension that still parts the node from the destination, counted from the present one.
    void queue(Message *message, std::uint32_t node) {
        const std::uint32_t way = node ^ message->destination;
        const std::uint32_t later = way >> dimension_ << dimension_;
        links_[std::size_t{node} * dimensions_ + static_cast<unsigned>(std::countr_zero(later != 0 ? later : way))]
            .push(message);
    }

    void receive(Message *message, Node &node) {
        if (message->payload != payload_of(message->number))
            fail("hypercube-like: message %p changed on its way", static_cast<void *>(message));
        hops_ += static_cast<unsigned>(std::popcount(message->source ^ message->destination));
        ++node.received;
        node.received_sum += message->number;
        --in_flight_;
        std::free(message);
    }

    unsigned dimensions_;
    unsigned dimension_ = 0;
    std::uint64_t hops_ = 0;  // that the messages received had to take
    std::uint64_t in_flight_ = 0;
    std::uint64_t most_in_flight_ = 0;
    std::vector<Node> nodes_;
    std::vector<Link> links_;
};

// What it sent arrives, even when the time is up.
Summary work(const Shape &shape, Worker &worker) {
    Cube cube(shape.dimensions);
    for (std::uint64_t left = worker.left(); cube.in_flight() != 0 || (left != 0 && worker.more());) {
        for (unsigned sent = 0; sent < shape.rate && left != 0 && worker.more(); ++sent, --left)
            cube.send(worker.random);
        worker.did(cube.step());
    }
    cube.verify();
    return cube.summary();
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload hypercube("hypercube-like", "Messages on a hypercube: all live long, and few at a time.",
                       {.threads = 1, .seconds = 2});
    hypercube.options().number("--dimensions", shape.dimensions, "of the cube", {1, 20});
    hypercube.options().number("--rate", shape.rate, "messages sent in a step", {1, 1 << 20});
    if (!hypercube.parse(argc, argv)) return hypercube.exit_code();
    std::vector<Summary> summaries(hypercube.settings().threads);
    hypercube.run([&](Worker &worker) { summaries[worker.index] = work(shape, worker); });
    Summary total;
    for (const Summary &summary : summaries) {
        total.peak_bytes += summary.peak_bytes;
        total.longest_queue = std::max(total.longest_queue, summary.longest_queue);
    }
    hypercube.note("requested_peak_bytes", static_cast<double>(total.peak_bytes));
    hypercube.note("longest_queue_messages", total.longest_queue);
    return hypercube.report();
}
