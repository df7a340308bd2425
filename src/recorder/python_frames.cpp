// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/python_frames.hpp"

#include <algorithm>
#include <atomic>

#include "platform/process.hpp"

namespace gr {
namespace {

constexpr unsigned kProofs = 64;

// How many pointers to code led to code. After kProofs of them, the layout is believed.
constinit std::atomic<unsigned> proofs{0};

}  // namespace

// Frames lie close together, so that the kernel is asked for a few pages only.
bool PythonFrames::is_readable(std::uintptr_t at, std::size_t bytes) {
    for (const std::uintptr_t page : {at / kPageBytes, (at + bytes - 1) / kPageBytes}) {
        if (std::ranges::find(safe_pages_, page) != safe_pages_.end()) continue;
        if (!platform::is_readable(page * kPageBytes)) return false;
        safe_pages_[next_page_++ % safe_pages_.size()] = page;
    }
    return true;
}

PythonFrames::PythonFrames() {
    if (!python.is_found()) return;
    const PythonLayout &layout = python.layout();
    is_careful_ = proofs.load(std::memory_order_relaxed) < kProofs || python.is_ending();
    const void *const thread = python.thread();
    if (thread == nullptr || !is_safe(thread, layout.thread_frames + kWord)) return;
    const auto *const first = field<const void *>(thread, layout.thread_frames);
    switch (layout.chain) {
        case PythonChain::one_by_one:
            frames_ = first;
            break;
        case PythonChain::marked:
            frames_ = first;
            marks_ = field<const void *>(thread, layout.thread_marks);
            break;
        case PythonChain::entered:
            marks_ = first;
            if (is_safe(marks_, kMarkBytes)) frames_ = field<const void *>(marks_, layout.mark_frame);
            break;
        case PythonChain::on_the_stack:
            frames_ = first;
            if (layout.mark_previous != 0)
                frames_ = is_safe(first, kMarkBytes) ? field<const void *>(first, layout.mark_frame) : nullptr;
            break;
    }
}

bool PythonFrames::take_mark() {
    mark_ = reinterpret_cast<std::uintptr_t>(marks_);
    marks_ = is_safe(marks_, kMarkBytes) ? field<const void *>(marks_, python.layout().mark_previous) : nullptr;
    return true;
}

void PythonFrames::prove() { proofs.fetch_add(1, std::memory_order_relaxed); }

}  // namespace gr
