// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: heaptrack.hpp. Lines of a letter and hexadecimal numbers, as heaptrack 1.3 writes them:
//
//     v VERSION FORMAT       X COMMAND              I PAGE-BYTES PAGES      s LENGTH TEXT
//     i ADDRESS MODULE [FUNCTION [FILE LINE]]...    the innermost call first, then those into which it was put
//     t CALL CALLER'S        a SIZE STACK           + KIND    - KIND        c MILLISECONDS    R RESIDENT-PAGES
//
// Invariant: texts, calls (i) and stacks (t) count from 1, kinds of blocks (a) from 0, and each stands before it is
//    used.
// Must not know: how heaptrack shows it.
#include "commands/export/heaptrack.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.hpp"
#include "reading/trace/playback.hpp"
#include "reporting/steps/stack_profile.hpp"

namespace gr::tool {

namespace {

constexpr unsigned kVersion = 0x10300;
constexpr unsigned kFormat = 3;
constexpr std::uint64_t kUnitsOfMillisecond = 1'000'000 / trace::kTimeUnitNanoseconds;

class Lines : public trace::Listener {
  public:
    Lines(const trace::Trace &trace, Calls &calls, Sink &sink) : trace_(trace), calls_(calls), sink_(sink) {
        stacks_.resize(trace.stacks().size());
    }

    void write() {
        const trace::Start &start = trace_.start();
        std::string command;
        for (const std::string &word : start.arguments) command += (command.empty() ? "" : " ") + printable(word);
        line("v {:x} {:x}\nX {}\n", kVersion, kFormat, command.empty() ? printable(start.program) : command);
        line("I {:x} {:x}\n", start.page_bytes, start.physical_bytes / start.page_bytes);
        trace::Playback playback(trace_);
        playback.play(*this);
        pass(trace_.last());
        sink_.write(text_);
    }

    void before(const trace::Event &event) override { pass(event.time); }
    void born(const trace::Block &block) override { line("+ {:x}\n", kind_of(block)); }
    void died(const trace::Block &block, const trace::Event &) override { line("- {:x}\n", kind_of(block)); }
    void vanished(const trace::Block &block, trace::Time) override { line("- {:x}\n", kind_of(block)); }

  private:
    template <class... Values>
    void line(fmt::format_string<Values...> format, Values &&...values) {
        constexpr std::size_t kEnough = std::size_t{1} << 16;
        fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
        if (text_.size() < kEnough) return;
        sink_.write(text_);
        text_.clear();
    }
    void pass(trace::Time time) {
        const auto &samples = trace_.samples();
        for (; sample_ < samples.size() && samples[sample_].time <= time; ++sample_) {
            tell(samples[sample_].time);
            line("R {:x}\n", samples[sample_].resident_bytes / trace_.start().page_bytes);
        }
        tell(time);
    }
    void tell(trace::Time time) {
        const std::uint64_t now = time.units / kUnitsOfMillisecond;
        if (now <= told_) return;
        line("c {:x}\n", now);
        told_ = now;
    }
    std::uint64_t text_of(const std::string &text) {
        if (text.empty()) return 0;
        const auto [at, is_new] = texts_.try_emplace(text, texts_.size() + 1);
        if (is_new) line("s {:x} {}\n", text.size(), text);
        return at->second;
    }
    std::uint64_t call_of(std::uint64_t address) {
        const auto [at, is_new] = addresses_.try_emplace(address, addresses_.size() + 1);
        if (!is_new) return at->second;
        const trace::Module *const module = calls_.modules().at(address - 1);
        std::string one = fmt::format("i {:x} {:x}", address, module == nullptr ? 0 : text_of(printable(module->path)));
        const std::vector<Call> &calls = calls_.at(address);
        for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
            if (!call->is_known && call->file.empty()) continue;
            one += fmt::format(" {:x}", text_of(call->unique_name()));
            if (!call->file.empty() || calls.size() > 1)
                one += fmt::format(" {:x} {:x}", text_of(call->file), call->line);
        }
        line("{}\n", one);
        return at->second;
    }
    // An address that nobody calls from.
    std::uint64_t no_stack() {
        if (no_stack_ != 0) return no_stack_;
        const std::uint64_t text = text_of(kNoStack);
        line("i 0 0 {:x}\n", text);
        const std::uint64_t call = addresses_.try_emplace(0, addresses_.size() + 1).first->second;
        line("t {:x} 0\n", call);
        return no_stack_ = ++last_stack_;
    }
    std::uint64_t stack_of(trace::StackNumber stack) {
        if (stack == trace::StackNumber::none) return no_stack();
        std::vector<std::uint32_t> path;
        std::uint32_t node = trace::number_of(stack);
        for (; node != 0 && stacks_[node] == 0; node = trace::number_of(trace_.stacks()[node].parent))
            path.push_back(node);
        std::uint64_t caller = stacks_[node];
        for (; !path.empty(); path.pop_back()) {
            const std::uint64_t call = call_of(trace_.stacks()[path.back()].address);
            line("t {:x} {:x}\n", call, caller);
            caller = stacks_[path.back()] = ++last_stack_;
        }
        return caller;
    }
    std::uint64_t kind_of(const trace::Block &block) {
        const auto [at, is_new] = kinds_.try_emplace({block.size, trace::number_of(block.stack)}, kinds_.size());
        if (is_new) {
            const std::uint64_t stack = stack_of(block.stack);
            line("a {:x} {:x}\n", block.size, stack);
        }
        return at->second;
    }

    const trace::Trace &trace_;
    Calls &calls_;
    Sink &sink_;
    std::string text_;
    std::unordered_map<std::string, std::uint64_t> texts_;
    std::unordered_map<std::uint64_t, std::uint64_t> addresses_;
    std::vector<std::uint64_t> stacks_;  // heaptrack's number by the trace's; 0: not yet
    std::uint64_t last_stack_ = 0;
    std::uint64_t no_stack_ = 0;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> kinds_;
    std::uint64_t told_ = 0;  // milliseconds
    std::size_t sample_ = 0;
};

}  // namespace

void write_heaptrack(const trace::Trace &trace, Calls &calls, Sink &sink) { Lines(trace, calls, sink).write(); }

}  // namespace gr::tool
