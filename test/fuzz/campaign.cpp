// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: see campaign.hpp.
// Invariant: see campaign.hpp.
// Must not know: see campaign.hpp.
#include "campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "child.hpp"
#include "operation.hpp"
#include "replay.hpp"

namespace gr::fuzz {

namespace {

// Runs with few kinds of operations and sizes go deeper than runs with all of them; most records take each
// byte from a small palette, some from everywhere.
class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed) {
        for (std::array<std::uint8_t, kPalette> &colours : palette_) {
            for (std::uint8_t &colour : colours) colour = byte();
        }
        colours_ = 1 + random_() % kPalette;
        wild_ = random_() % 8;
    }

    void append_record(Bytes &bytes) {
        const bool wild = random_() % 8 < wild_;
        for (std::size_t i = 0; i < kRecordBytes; ++i) {
            const bool slot = i == 1 || i == 2;  // blocks are chosen from everywhere
            bytes.push_back(wild || slot ? byte() : palette_[i][random_() % colours_]);
        }
    }

  private:
    static constexpr std::size_t kPalette = 12;

    std::uint8_t byte() { return static_cast<std::uint8_t>(random_()); }

    std::mt19937_64 random_;
    std::array<std::array<std::uint8_t, kPalette>, kRecordBytes> palette_{};
    std::size_t colours_ = 1;
    std::uint64_t wild_ = 0;
};

std::vector<Operation> operations_of(const Bytes &bytes) {
    std::vector<Operation> operations;
    for (std::size_t at = 0; at + kRecordBytes <= bytes.size(); at += kRecordBytes) {
        operations.push_back(decode(std::span(bytes).subspan(at).first<kRecordBytes>()));
    }
    return operations;
}

// What failed, without where: the words after the step, less names of operations and all with a digit.
std::string gist(const std::string &what) {
    const std::size_t thread = what.find(", thread ");
    const std::size_t start = thread == std::string::npos ? 0 : what.find(": ", thread);
    std::istringstream words(what.substr(start == std::string::npos ? 0 : start));
    std::string kept = what.find("in fork's child") == std::string::npos ? "" : "child ";
    for (std::string word; words >> word;) {
        const bool digit = std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
        const bool kind = word.size() > 1 && word[0] == 'k' && std::isupper(static_cast<unsigned char>(word[1])) != 0;
        if (!digit && !kind) kept += word + ' ';
    }
    return kept;
}

}  // namespace

bool Campaign::fails_so(const Bytes &bytes, const std::string &what) const {
    const Outcome outcome = execute(bytes);
    return outcome.failed && gist(outcome.what) == gist(what);
}

Bytes Campaign::make(std::uint64_t run) const {
    constexpr std::uint64_t kRunFactor = 0x9e3779b97f4a7c15U;
    Generator generator(settings_.seed + run * kRunFactor);
    Bytes bytes;
    while (bytes.size() < settings_.length * kRecordBytes) generator.append_record(bytes);
    return bytes;
}

Outcome Campaign::execute(const Bytes &bytes) const {
    const ChildEnd end = run_child(bytes, settings_.allocator);
    if (end.signal == 0 && end.status == kPassed) return {};
    if (end.signal == 0 && end.status == kFailed) return {true, end.output};
    if (end.signal == 0) throw std::runtime_error(end.output);  // not the allocator's fault: nothing to shrink
    const std::string how = fmt::format("died of signal {} ({})", end.signal, strsignal(end.signal));
    return {true, end.output.empty() ? how : how + ": " + end.output};
}

// Leaves out ever smaller pieces while the rest still fails in the same way.
Bytes Campaign::drop_records(Bytes bytes, const std::string &what, unsigned &attempts) const {
    for (std::size_t piece = std::bit_ceil(bytes.size() / kRecordBytes); piece >= 1; piece /= 2) {
        std::size_t at = 0;
        while (at < bytes.size() && attempts > 0) {
            Bytes rest = bytes;
            const std::size_t end = std::min(bytes.size(), at + piece * kRecordBytes);
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at), rest.begin() + static_cast<std::ptrdiff_t>(end));
            --attempts;
            if (fails_so(rest, what)) {
                bytes = std::move(rest);
            } else {
                at = end;
            }
        }
    }
    return bytes;
}

// A byte that may as well be zero says nothing about the failure.
Bytes Campaign::clear_bytes(Bytes bytes, const std::string &what, unsigned &attempts) const {
    for (std::size_t at = 0; at < bytes.size() && attempts > 0; ++at) {
        if (bytes[at] == 0) continue;
        Bytes simpler = bytes;
        simpler[at] = 0;
        --attempts;
        if (fails_so(simpler, what)) bytes = std::move(simpler);
    }
    return bytes;
}

// Each try at a hang would last until the alarm; what comes after the step that hung is left out without trying.
Bytes Campaign::shrink(Bytes bytes, const Outcome &outcome) const {
    constexpr unsigned kAttempts = 4000;
    if (outcome.hung()) {
        const std::size_t steps = std::strtoull(outcome.what.c_str() + outcome.what.find("step ") + 5, nullptr, 10);
        bytes.resize(std::min(bytes.size(), steps * kRecordBytes));
        return bytes;
    }
    if (!fails_so(bytes, outcome.what)) {
        fmt::print("fuzz: it did not fail again in the same way; the byte string is kept whole\n");
        return bytes;
    }
    unsigned attempts = kAttempts;
    bytes = drop_records(std::move(bytes), outcome.what, attempts);
    bytes = clear_bytes(std::move(bytes), outcome.what, attempts);
    return drop_records(std::move(bytes), outcome.what, attempts);
}

std::string Campaign::as_program(const Bytes &bytes, const std::string &what, std::uint64_t run) const {
    std::string text = fmt::format(
        "// Fuzzing, seed {}, run {}, length {}: {}\n"
        "// g++ -std=c++20 -I test/fuzz THIS.cpp -o failure -pthread && LD_PRELOAD=libgranary.so ./failure\n"
        "#include \"replay.hpp\"\n\n"
        "using gr::fuzz::Kind;\n\n"
        "int main() {{\n  return gr::fuzz::replay({{\n",
        settings_.seed, run, settings_.length, what);
    for (const Operation &operation : operations_of(bytes)) text += fmt::format("      {},\n", as_cpp(operation));
    return text + "  });\n}\n";
}

int Campaign::report(const Bytes &bytes, const Outcome &outcome, std::uint64_t run) const {
    fmt::print("fuzz: seed {}, run {}: {}\nfuzz: shrinking {} operations\n", settings_.seed, run, outcome.what,
               bytes.size() / kRecordBytes);
    std::fflush(stdout);
    const Bytes small = shrink(bytes, outcome);
    const Outcome last = outcome.hung() ? outcome : execute(small);
    const std::string what = last.failed ? last.what : outcome.what;
    const std::string program = as_program(small, what, run);
    const std::string stem = fmt::format("{}/fuzz-{}-{}", settings_.keep, settings_.seed, run);
    std::filesystem::create_directories(settings_.keep);
    std::ofstream(stem + ".bytes", std::ios::binary)
        .write(reinterpret_cast<const char *>(small.data()), static_cast<std::streamsize>(small.size()));
    std::ofstream(stem + ".cpp") << program;
    fmt::print("{}fuzz: kept as {}.cpp and, for --replay, {}.bytes\n", program, stem, stem);
    if (settings_.expect.empty()) return kFailed;
    if (what.find(settings_.expect) != std::string::npos) return kPassed;
    fmt::print("fuzz: expected a failure with '{}', found another\n", settings_.expect);
    return kFailed;
}

int Campaign::run() {
    if (settings_.random) settings_.seed = std::random_device{}();
    fmt::print("fuzz: seed {}, {} runs of {} operations, allocator {}\n", settings_.seed, settings_.runs,
               settings_.length, settings_.allocator.empty() ? "as in the environment" : settings_.allocator);
    std::fflush(stdout);
    for (std::uint64_t run = 0; run < settings_.runs; ++run) {
        const Bytes bytes = make(run);
        const Outcome outcome = execute(bytes);
        const bool known = !settings_.ignore.empty() && outcome.what.find(settings_.ignore) != std::string::npos;
        if (outcome.failed && !known) return report(bytes, outcome, run);
    }
    if (settings_.expect.empty()) return kPassed;
    fmt::print("fuzz: expected a failure with '{}', found none\n", settings_.expect);
    return kFailed;
}

}  // namespace gr::fuzz
