// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/python_merge.hpp"

#include <algorithm>
#include <atomic>

#include "granary/wire/recording.h"
#include "recorder/python_code.hpp"
#include "recorder/taken_stack.hpp"

namespace gr {
namespace {

// Which places were told, by their numbers; of two in one slot the last. Ordered by nothing: a place may be told again.
constexpr std::size_t kToldBits = 13;
constinit std::array<std::atomic<std::uint64_t>, std::size_t{1} << kToldBits> told;

std::uintptr_t word_of(const PythonFrames::Frame &frame, const PlaceTeller &teller) {
    const std::uint64_t place = python_place(frame) | GR_RECORDED_PLACE;
    const std::uint64_t mixed = place ^ std::uint64_t{teller.number} << 32;
    std::atomic<std::uint64_t> &slot = told[place % told.size()];
    if (slot.load(std::memory_order_relaxed) != mixed) {
        teller.tell(teller.of, place, frame);
        slot.store(mixed, std::memory_order_relaxed);
    }
    return place;
}

}  // namespace

PythonMerge::PythonMerge(std::span<std::uintptr_t> words, const PythonFrames &frames, const PlaceTeller &teller)
    : words_(words), teller_(teller), rest_(frames), run_(frames) {
    find_run();
}

// What calls the functions is known only behind them.
void PythonMerge::find_run() {
    run_.mark = 0;
    run_.count = 0;
    run_.is_there = false;
    for (;;) {
        if (run_.count == kBuffered) run_.rest = rest_;
        const PythonFrames::Next next = rest_.next();
        if (next == PythonFrames::Next::end) return;
        run_.is_there = true;
        if (next == PythonFrames::Next::call) {
            run_.mark = rest_.mark();
            return;
        }
        if (run_.count < kBuffered) run_.words[run_.count] = word_of(rest_.frame(), teller_);
        ++run_.count;
    }
}

void PythonMerge::add_run() {
    for (std::size_t i = 0; i < std::min(run_.count, kBuffered); ++i) add_word(run_.words[i]);
    if (run_.count > kBuffered) {
        while (run_.rest.next() == PythonFrames::Next::frame) add_word(word_of(run_.rest.frame(), teller_));
    }
    is_within_python_ = true;
    find_run();
}

bool PythonMerge::is_of_run(const Native &native) const {
    if (run_.mark == 0) return python.layout().chain == PythonChain::one_by_one && python.evaluates(native.code);
    return native.begin <= run_.mark && run_.mark < native.end;
}

void PythonMerge::add(const Native &native) {
    while (run_.is_there && run_.mark != 0 && run_.mark < native.begin) add_run();  // its call was not seen
    if (run_.is_there && is_of_run(native)) return add_run();
    if (is_within_python_ && run_.is_there && python.contains(native.code)) return;
    add_word(native.code);
}

// There is room for the word that counts and for the outermost words.
void PythonMerge::add_word(std::uintptr_t word) {
    if (count_ < words_.size() - kOutermost - 1) {
        words_[count_++] = word;
    } else {
        last_[last_count_++ % kOutermost] = word;
    }
}

std::size_t PythonMerge::end(std::span<const std::uintptr_t> outermost) {
    while (run_.is_there) add_run();
    for (const std::uintptr_t code : outermost) {
        if (!python.contains(code)) add_word(code);
    }
    const std::size_t known = std::min(last_count_, kOutermost);
    const std::size_t left_out = last_count_ - known;
    if (left_out != 0) words_[count_++] = GR_RECORDED_CALLS_LEFT_OUT | left_out;
    for (std::size_t i = last_count_ - known; i < last_count_; ++i) words_[count_++] = last_[i % kOutermost];
    return count_;
}

}  // namespace gr
