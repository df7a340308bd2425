// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/python_merge.hpp"

#include <algorithm>

namespace gr {

PythonMerge::PythonMerge(std::span<std::uintptr_t> words, const PythonFrames &frames, PythonPlaces *places,
                         const PlaceTeller &teller)
    : words_(words), places_(*places), teller_(teller), rest_(frames) {
    find_run();
}

// What calls the functions is known only behind them.
void PythonMerge::find_run() {
    std::size_t count = 0;
    const bool has_call = rest_.next_call([&](const PythonFrames::Frame &frame) {
        if (count < run_.words.size()) {
            run_.words[count] = places_.word_of(frame, teller_);
        } else {
            run_.last[count % kOutermost] = frame;
        }
        ++count;
    });
    run_.mark = has_call ? rest_.mark() : 0;
    run_.count = count;
    run_.is_there = has_call || count != 0;
}

void PythonMerge::add_run() {
    const std::size_t innermost = std::min(run_.count, run_.words.size());
    for (std::size_t i = 0; i < innermost; ++i) add_word(run_.words[i]);
    const std::size_t outermost = std::min(run_.count - innermost, kOutermost);
    last_count_ += run_.count - innermost - outermost;  // after as many words as there may be none of these has room
    for (std::size_t i = run_.count - outermost; i < run_.count; ++i)
        add_word(places_.word_of(run_.last[i % kOutermost], teller_));
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
