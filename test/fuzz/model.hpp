// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: carries out operations on the allocator under test and checks every answer against the shadow map.
// Invariant: after a step without failure, every block in the map is live, apart from all others, and holds its pattern.
// Must not know: which allocator it is, beyond what EntryPoints tells.
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include "call.hpp"
#include "failure.hpp"
#include "inspector.hpp"
#include "pattern.hpp"
#include "shadow_map.hpp"
#include "thread_pool.hpp"

namespace gr::fuzz {

class Model {
  public:
    explicit Model(Inspector *inspector = nullptr);
    ~Model() { sched_setaffinity(0, sizeof allowed_, &allowed_); }

    // Both return false once something is wrong; failure() then says what.
    bool apply(const Operation &operation);
    bool finish();  // checks and frees everything
    bool run(std::span<const Operation> operations);

    const char *failure() const { return failure_.line(); }

  private:
    static constexpr std::size_t kBudget = std::size_t{96} << 20;  // live bytes; requests beyond it are left out
    static constexpr std::size_t kQuickCheck = 4096;               // blocks up to this size are checked at every step
    static constexpr unsigned kForks = 64;         // further ones are left out: each costs as much as hundreds of steps
    static constexpr unsigned kChildSeconds = 50;  // a forked child that takes longer hangs

    [[gnu::format(printf, 2, 3)]] void fail(const char *format, ...);
    void perform();
    void perform_on_slots();
    void perform_elsewhere();
    void inspect();

    void allocate(std::size_t slot);
    bool answer_is_right(const Answer &answer);
    void keep(std::size_t slot, void *pointer);
    void reallocate(std::size_t slot);
    void finish_realloc(std::size_t slot, const Block &before, const Answer &answer);
    void release(std::size_t slot, bool sized);
    void check_usable(std::size_t slot);
    bool check_contents(const Block &block);
    void check_next();
    void verify_all();
    void release_all(std::size_t first, std::size_t step);

    void hop_cpu();
    void fork_and_wait();
    void in_child();
    static void *free_odd_slots(void *self);

    EntryPoints entry_ = EntryPoints::find();
    Inspector *inspector_;
    Failure failure_;
    ShadowMap map_;
    ThreadPool threads_;
    cpu_set_t allowed_{};
    Operation now_;
    std::size_t thread_ = 0;
    std::size_t step_ = 0;
    std::size_t cursor_ = 0;  // the slot check_next looks at
    std::uint64_t next_id_ = 0;
    unsigned forks_ = 0;
    bool in_child_ = false;
};

inline Model::Model(Inspector *inspector) : inspector_(inspector) {
    CPU_ZERO(&allowed_);
    sched_getaffinity(0, sizeof allowed_, &allowed_);
    if (inspector_ != nullptr) inspector_->rebase(0);
}

inline bool Model::run(std::span<const Operation> operations) {
    for (const Operation &operation : operations) {
        if (!apply(operation)) return false;
    }
    return finish();
}

inline bool Model::apply(const Operation &operation) {
    ++step_;
    now_ = operation;
    if (operation.kind == Kind::kThread) {
        thread_ = operation.slot % ThreadPool::kThreads;
    } else if (operation.kind == Kind::kThreadEnd) {
        threads_.replace(thread_);
        if (inspector_ != nullptr) inspector_->rebase(map_.live_bytes());
    }
    threads_.run(
        thread_, [](void *self) { static_cast<Model *>(self)->perform(); }, this);
    return !failure_.any();
}

inline bool Model::finish() {
    now_ = Operation{};
    threads_.run(
        thread_,
        [](void *self) {
            Model &model = *static_cast<Model *>(self);
            model.verify_all();
            model.release_all(0, 1);
            model.inspect();
        },
        this);
    return !failure_.any();
}

inline void Model::fail(const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    char aligned[48] = "";
    if (takes_alignment(now_.kind)) std::snprintf(aligned, sizeof aligned, ", alignment %zu", now_.alignment);
    failure_.set("step %zu, %s%s of %zu x %zu bytes%s, thread %zu: %s", step_, name_of(now_.kind),
                 in_child_ ? " (in fork's child)" : "", now_.members, now_.size, aligned, thread_, what);
}

inline void Model::perform() {
    if (now_.kind <= Kind::kUsableSize) {
        perform_on_slots();
    } else {
        perform_elsewhere();
    }
    check_next();
    inspect();
}

inline void Model::perform_on_slots() {
    for (std::size_t i = 0; i < now_.count && !failure_.any(); ++i) {
        const std::size_t slot = (now_.slot + i * now_.step) % kSlots;
        if (allocates(now_.kind)) allocate(slot);
        if (now_.kind == Kind::kFree || now_.kind == Kind::kFreeSized) release(slot, now_.kind == Kind::kFreeSized);
        if (now_.kind == Kind::kRealloc || now_.kind == Kind::kReallocarray) reallocate(slot);
        if (now_.kind == Kind::kUsableSize) check_usable(slot);
    }
}

inline void Model::perform_elsewhere() {
    switch (now_.kind) {
        case Kind::kVerify:
            return verify_all();
        case Kind::kCpu:
            return hop_cpu();
        case Kind::kFork:
            return fork_and_wait();
        case Kind::kTrim:
            if (entry_.trim != nullptr) entry_.trim(now_.size);
            if (entry_.gr_trim != nullptr && now_.slot % 2 != 0) entry_.gr_trim(now_.size);
            return;
        case Kind::kFreeNull:
            errno = kErrnoMark;
            entry_.free(nullptr);
            if (errno != kErrnoMark) fail("free(NULL) set errno to %d", errno);
            return;
        default:
            return;
    }
}

inline void Model::inspect() {
    if (inspector_ == nullptr || failure_.any()) return;
    if (const char *message = inspector_->inspect(map_.live_bytes())) fail("%s", message);
}

// --- blocks -----------------------------------------------------------------------------------------------------

inline void Model::allocate(std::size_t slot) {
    if (map_.find(slot) != nullptr) release(slot, false);
    const std::size_t larger = std::max(total_bytes(now_), now_.alignment);
    if (!impossible(now_) && map_.live_bytes() + larger > kBudget) return;
    if (failure_.any() || !can_call(entry_, now_)) return;
    const Answer answer = call_allocate(entry_, now_);
    if (answer_is_right(answer) && answer.pointer != nullptr) keep(slot, answer.pointer);
}

inline bool Model::answer_is_right(const Answer &answer) {
    const Expected wanted = expected(entry_, now_);
    if (answer.pointer != nullptr) {
        if (wanted == Expected::kNoMemory) fail("a block where there can be none");
        if (wanted == Expected::kInvalid) fail("a block for an alignment that is invalid");
        if (entry_.keeps_errno && answer.error != kErrnoMark) fail("succeeded and set errno to %d", answer.error);
        return !failure_.any();
    }
    const bool throwing = now_.kind == Kind::kNew || now_.kind == Kind::kNewArray || now_.kind == Kind::kNewAligned;
    if (wanted == Expected::kBlock) fail("no block, error %d", answer.error);
    if (throwing && !answer.threw) fail("returned null instead of throwing");
    if (answer.touched) fail("failed and wrote its result");
    const bool told = entry_.strict || now_.kind == Kind::kPosixMemalign;  // errno is POSIX's, not C's
    if (wanted == Expected::kInvalid && told && answer.error != EINVAL) {
        fail("error %d for an invalid alignment", answer.error);
    }
    const bool silent = !told || throwing || now_.kind == Kind::kNewNothrow;
    if (wanted == Expected::kNoMemory && answer.error != ENOMEM && !silent)
        fail("no block, but error %d", answer.error);
    return !failure_.any();
}

inline void Model::keep(std::size_t slot, void *pointer) {
    const std::size_t alignment = required_alignment(entry_, now_);
    Block block{pointer, 0, total_bytes(now_), now_.alignment, next_id_++, now_.kind};
    if (block.begin() % alignment != 0) return fail("block %p is not aligned to %zu", pointer, alignment);
    block.usable = entry_.usable_size(pointer);
    if (block.usable < block.requested) return fail("block %p has only %zu usable bytes", pointer, block.usable);
    if (const Block *other = map_.overlapping(block)) {
        return fail("block %p of %zu usable bytes overlaps live block %p of %zu", pointer, block.usable, other->address,
                    other->usable);
    }
    if (now_.kind == Kind::kCalloc) {
        const std::size_t dirty = first_nonzero(pointer, block.requested);
        if (dirty != block.requested) return fail("block %p is not zero at offset %zu", pointer, dirty);
    }
    fill(pointer, block.usable, block.id);
    map_.insert(slot, block);
}

inline void Model::reallocate(std::size_t slot) {
    const Block *const found = map_.find(slot);
    if (found != nullptr && made_by_new(found->origin)) return;  // not a block that realloc may have
    if (!impossible(now_) && map_.live_bytes() + total_bytes(now_) > kBudget) return;
    if (found != nullptr && !check_contents(*found)) return;
    const Block before = found == nullptr ? Block{} : *found;
    const Answer answer = call_reallocate(entry_, now_, before.address);
    if (answer.pointer == nullptr && total_bytes(now_) == 0 && before.address != nullptr) {
        map_.erase(slot);
        if (answer.error != kErrnoMark) fail("freed %p and set errno to %d", before.address, answer.error);
        return;
    }
    if (!answer_is_right(answer)) return;
    if (answer.pointer == nullptr) {
        if (found != nullptr) check_contents(before);  // a failed realloc leaves the block alone
        return;
    }
    finish_realloc(slot, before, answer);
}

inline void Model::finish_realloc(std::size_t slot, const Block &before, const Answer &answer) {
    if (before.address != nullptr) {
        if (entry_.strict && total_bytes(now_) == 0)
            return fail("returned a block instead of freeing %p", before.address);
        map_.erase(slot);
        const std::size_t common = std::min(before.requested, total_bytes(now_));
        const std::size_t kept = first_change(answer.pointer, common, before.id);
        if (kept != common) {
            return fail("block %p, now %p, lost its contents at offset %zu", before.address, answer.pointer, kept);
        }
    }
    const Operation asked = now_;
    now_.kind = Kind::kMalloc;  // what realloc returns is freed as malloc's
    keep(slot, answer.pointer);
    now_ = asked;
}

inline void Model::release(std::size_t slot, bool sized) {
    const Block *const found = map_.find(slot);
    if (found == nullptr || !check_contents(*found)) return;
    const Block block = *found;
    map_.erase(slot);
    const int error = call_release(entry_, block, sized);
    if (error != kErrnoMark) fail("freeing %p of %zu bytes set errno to %d", block.address, block.usable, error);
}

inline void Model::check_usable(std::size_t slot) {
    const Block *const block = map_.find(slot);
    errno = kErrnoMark;
    const std::size_t usable = entry_.usable_size(block == nullptr ? nullptr : block->address);
    if (errno != kErrnoMark) return fail("malloc_usable_size set errno to %d", errno);
    const std::size_t known = block == nullptr ? 0 : block->usable;
    if (usable != known) fail("malloc_usable_size changed from %zu to %zu", known, usable);
}

inline bool Model::check_contents(const Block &block) {
    const std::size_t changed = first_change(block.address, block.usable, block.id);
    if (changed == block.usable) return true;
    fail("block %p of %zu bytes (%zu usable, from %s) changed at offset %zu", block.address, block.requested,
         block.usable, name_of(block.origin), changed);
    return false;
}

// One more small block at every step, so that damage is found near where it was done.
inline void Model::check_next() {
    if (failure_.any()) return;
    cursor_ = (cursor_ + 1) % kSlots;
    const Block *const block = map_.find(cursor_);
    if (block != nullptr && block->usable <= kQuickCheck) check_contents(*block);
}

inline void Model::verify_all() {
    for (std::size_t slot = 0; slot < kSlots && !failure_.any(); ++slot) {
        if (const Block *const block = map_.find(slot)) check_contents(*block);
    }
}

inline void Model::release_all(std::size_t first, std::size_t step) {
    for (std::size_t slot = first; slot < kSlots && !failure_.any(); slot += step) release(slot, slot % 3 == 0);
}

// --- places -----------------------------------------------------------------------------------------------------

// To the n-th of the CPUs the process may use.
inline void Model::hop_cpu() {
    const int count = CPU_COUNT(&allowed_);
    if (count == 0) return;
    int left = now_.slot % count;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed_) || left-- != 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

inline void Model::fork_and_wait() {
    if (++forks_ > kForks) return;
    const pid_t child = fork();
    if (child < 0) return fail("cannot fork, error %d; raise the limit on processes or memory", errno);
    if (child == 0) {
        alarm(kChildSeconds);
        in_child();
        _exit(failure_.any() ? 1 : 0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        fail("fork's child died of signal %d%s", WTERMSIG(status), WTERMSIG(status) == SIGALRM ? ": it hung" : "");
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) fail("fork's child left with status %d", WEXITSTATUS(status));
}

// The child sees all blocks, may free them from any thread, and may allocate at once.
inline void Model::in_child() {
    constexpr std::size_t kLargest = std::size_t{256} << 10;
    in_child_ = true;
    inspect();
    verify_all();
    pthread_t other{};
    const int error = pthread_create(&other, nullptr, &Model::free_odd_slots, this);
    if (error != 0) return fail("cannot start a thread, error %d", error);
    pthread_join(other, nullptr);
    if (inspector_ != nullptr) inspector_->rebase(map_.live_bytes());
    std::size_t slot = 1;
    now_ = Operation{.kind = Kind::kMalloc};
    for (now_.size = 1; now_.size <= kLargest && !failure_.any(); now_.size += now_.size / 8 + 1) {
        allocate(slot);
        slot += 2;
    }
    verify_all();
    release_all(0, 1);
    inspect();
}

inline void *Model::free_odd_slots(void *self) {
    static_cast<Model *>(self)->release_all(1, 2);
    return nullptr;
}

}  // namespace gr::fuzz
