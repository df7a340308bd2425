// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: message.hpp's queue.
// Invariant: as there. Only records count: all else is small and rare.
// Must not know: what becomes of it.
#include "commands/record/message.hpp"

#include <utility>

namespace gr::tool {

namespace {

std::uint64_t bytes_of(const Message &message) {
    const auto *const records = std::get_if<Records>(&message);
    return records == nullptr ? 0 : records->records.size() * sizeof(gr_record);
}

}  // namespace

void MessageQueue::put(Message message) {
    const std::uint64_t bytes = bytes_of(message);
    std::unique_lock lock(mutex_);
    if (bytes != 0) has_room_.wait(lock, [&] { return bytes_ < kMostBytes; });
    bytes_ += bytes;
    messages_.push_back(std::move(message));
    const bool wakes = bytes == 0 || bytes_ >= kWakingBytes;
    lock.unlock();
    if (wakes) is_filled_.notify_one();
}

void MessageQueue::end() noexcept {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    is_filled_.notify_one();
}

Message MessageQueue::take() {
    std::unique_lock lock(mutex_);
    is_filled_.wait(lock, [&] { return is_ended_ || !messages_.empty(); });
    if (messages_.empty()) return Quit{};
    Message message = std::move(messages_.front());
    messages_.pop_front();
    bytes_ -= bytes_of(message);
    lock.unlock();
    has_room_.notify_one();
    return message;
}

}  // namespace gr::tool
