// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: makes byte strings, runs each in a process of its own, and shrinks and prints one that fails.
// Invariant: the allocator under test is loaded into the children only, so it cannot mislead the campaign.
// Must not know: operations beyond their record length and spelling, or how they are checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gr::fuzz {

using Bytes = std::vector<std::uint8_t>;

struct Settings {
    std::string allocator;  // preloaded into the children; empty: what the environment says
    std::uint64_t seed = 1;
    std::uint64_t runs = 100;
    std::uint64_t length = 2000;  // operations in one run
    std::string keep = ".";       // folder for the files of a failure
    std::string expect;           // a failure with this text is what is wanted
    std::string ignore;           // failures with this text are known: go on
    bool random = false;          // take the seed from the clock and the process
    bool one_cpu = false;
};

struct Outcome {
    bool failed = false;
    std::string what;
    bool hung() const { return what.find(" hung") != std::string::npos; }
};

class Campaign {
  public:
    explicit Campaign(Settings settings) : settings_(std::move(settings)) {}
    int run();  // the exit status of the driver

  private:
    Bytes make(std::uint64_t run) const;
    Outcome execute(const Bytes &bytes) const;
    Bytes shrink(Bytes bytes, const Outcome &outcome) const;
    bool fails_so(const Bytes &bytes, const std::string &what) const;
    Bytes drop_records(Bytes bytes, const std::string &what, unsigned &attempts) const;
    Bytes clear_bytes(Bytes bytes, const std::string &what, unsigned &attempts) const;
    int report(const Bytes &bytes, const Outcome &outcome, std::uint64_t run) const;
    std::string as_program(const Bytes &bytes, const std::string &what, std::uint64_t run) const;

    Settings settings_;
};

// The whole of a driver's main. When internals is true, the allocator's own checks run after each step.
int drive(int argc, char **argv, bool internals);

}  // namespace gr::fuzz
