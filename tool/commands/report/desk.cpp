// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: desk.hpp.
// Invariant: as there. All but analyst_ belongs to who holds mutex_; a course may be asked without.
// Must not know: how a question comes in.
#include "commands/report/desk.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "reporting/document/document_json.hpp"

namespace gr::tool {

Desk::Desk(const trace::Trace &trace, const Naming &naming) : analyst_(trace, naming), worker_([this] { work(); }) {}

Desk::~Desk() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
        if (making_) making_->course.stop();
    }
    changed_.notify_all();
    worker_.join();
}

Desk::Answer Desk::ask(const std::string &reader, const Wanted &wanted) {
    const std::lock_guard lock(mutex_);
    const auto found = find(wanted);
    if (found != made_.end()) {
        std::erase_if(wishes_, [&](const Wish &wish) { return wish.reader == reader; });
        stop_what_nobody_wants();
        made_.splice(made_.begin(), made_, found);
        Answer answer{found->document, found->failure, 1};
        if (found->document == nullptr) made_.erase(found);  // who asks again has it tried again
        return answer;
    }
    wish(reader, wanted);
    stop_what_nobody_wants();
    changed_.notify_all();
    return {nullptr, "", making_ ? making_->course.done() : 0};
}

std::list<Desk::Made>::iterator Desk::find(const Wanted &wanted) {
    return std::ranges::find_if(made_, [&](const Made &made) { return made.wanted == wanted; });
}

void Desk::wish(const std::string &reader, const Wanted &wanted) {
    const auto old = std::ranges::find_if(wishes_, [&](const Wish &wish) { return wish.reader == reader; });
    if (old != wishes_.end() && old->wanted == wanted) return;
    if (old != wishes_.end()) wishes_.erase(old);
    wishes_.push_back({reader, wanted});
    if (wishes_.size() > kMostReaders) wishes_.pop_front();
}

// The whole is what everybody comes back to.
void Desk::stop_what_nobody_wants() {
    const auto wants_it = [&](const Wish &wish) { return wish.wanted == making_->wanted; };
    if (making_ && making_->wanted && std::ranges::none_of(wishes_, wants_it)) making_->course.stop();
}

// Those who want what is there already have not asked again yet.
const Desk::Wish *Desk::next() const {
    const auto is_made = [&](const Wish &wish) {
        return std::ranges::any_of(made_, [&](const Made &made) { return made.wanted == wish.wanted; });
    };
    const auto found = std::ranges::find_if_not(wishes_, is_made);
    return found == wishes_.end() ? nullptr : &*found;
}

void Desk::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return is_over_ || !has_begun_ || next() != nullptr; });
        if (is_over_) return;
        making_ = std::make_shared<Making>();
        if (has_begun_) making_->wanted = next()->wanted;
        has_begun_ = true;
        lock.unlock();
        std::optional<Made> made;
        try {
            made = make(*making_);
        } catch (const Unwanted &) {
            made.reset();
        }
        lock.lock();
        making_.reset();
        if (made) keep(std::move(*made));
    }
}

Desk::Made Desk::make(Making &making) {
    const Wanted &wanted = making.wanted;
    try {
        const Document document = wanted ? analyst_.window(*wanted, making.course) : analyst_.whole(making.course);
        return {wanted, std::make_shared<const std::string>(to_json(document)), ""};
    } catch (const std::bad_alloc &) {
        return {wanted, nullptr, "there is not enough memory for this window"};
    } catch (const std::exception &error) {
        return {wanted, nullptr, error.what()};
    }
}

// The whole stays, and what was made last.
void Desk::keep(Made made) {
    made_.push_front(std::move(made));
    std::size_t bytes = 0;
    for (auto at = made_.begin(); at != made_.end();) {
        if (at->wanted && at->document != nullptr) bytes += at->document->size();
        const bool goes = at->wanted && at != made_.begin() && (bytes > kMostBytes || at->document == nullptr);
        at = goes ? made_.erase(at) : std::next(at);
    }
}

}  // namespace gr::tool
