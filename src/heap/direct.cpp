// SPDX-License-Identifier: Apache-2.0 OR MIT
// The table uses open addressing with linear probing. Live addresses are unique, so insertion may reuse any gap.

#include "heap/direct.hpp"

#include "base/bits.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"

namespace gr {

static_assert(is_power_of_two(kDirectTableEntries), "a hash is masked to an entry");

std::atomic<Direct::Entry *> Direct::entries_{nullptr};
std::atomic<std::size_t> Direct::entry_count_{0};
std::atomic<std::size_t> Direct::used_entries_{0};

// Two threads may come here together. One of them decides the number of entries.
void Direct::decide_entry_count() {
    if (entry_count() != 0) return;
    std::size_t wanted = kDirectTableEntries;
    const std::size_t addresses = platform::address_space_limit();
    const std::size_t data = platform::data_limit();
    const std::size_t limit = addresses < data ? addresses : data;
    while (wanted > kReserve * 2 && wanted / 2 >= limit / kScarceBytesPerDirect) wanted /= 2;
    std::size_t undecided = 0;
    entry_count_.compare_exchange_strong(undecided, wanted, std::memory_order_relaxed);
}

// Two threads may come here together. One thread's table is kept.
bool Direct::make_table() {
    if (entries() != nullptr) return true;
    decide_entry_count();
    const std::size_t bytes = align_up(entry_count() * sizeof(Entry), platform::page_size());
    auto *const made = static_cast<Entry *>(platform::map(bytes, 1));
    if (made == nullptr) return false;
    Entry *seen = nullptr;
    if (!entries_.compare_exchange_strong(seen, made, std::memory_order_acq_rel)) platform::unmap(made, bytes);
    return true;
}

Direct::Entry &Direct::entry_of(std::uintptr_t address, std::size_t i) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
    const auto home = static_cast<std::size_t>((address >> 12) * kGolden >> 40);
    return entries_.load(std::memory_order_relaxed)[(home + i) & (entry_count() - 1)];
}

Direct::Entry *Direct::find(std::uintptr_t address) const {
    if (address <= kClaimed || entries() == nullptr) return nullptr;
    for (std::size_t i = 0; i < entry_count(); ++i) {
        Entry &entry = entry_of(address, i);
        const std::uintptr_t seen = entry.address.load(std::memory_order_acquire);
        if (seen == address) return entry.mapper.load(std::memory_order_relaxed) == this ? &entry : nullptr;
        if (seen == 0) return nullptr;
    }
    return nullptr;
}

void Direct::add(std::size_t bytes) {
    used_entries_.fetch_add(1, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
    add_bytes(bytes);
}

void Direct::add_bytes(std::size_t bytes) {
    const std::size_t now = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t peak = peak_bytes();
    while (peak < now && !peak_bytes_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
}

void Direct::subtract(std::size_t bytes) {
    used_entries_.fetch_sub(1, std::memory_order_relaxed);
    count_.fetch_sub(1, std::memory_order_relaxed);
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

bool Direct::insert(std::uintptr_t address, std::size_t bytes) {
    if (!make_table()) return false;
    for (std::size_t i = 0; i < entry_count(); ++i) {
        Entry &entry = entry_of(address, i);
        std::uintptr_t seen = entry.address.load(std::memory_order_relaxed);
        if (seen > kGone || !entry.address.compare_exchange_strong(seen, kClaimed, std::memory_order_acquire)) continue;
        entry.bytes.store(bytes, std::memory_order_relaxed);
        entry.mapper.store(this, std::memory_order_relaxed);
        entry.address.store(address, std::memory_order_release);
        add(bytes);
        return true;
    }
    return false;
}

void Direct::count_against(MemoryLimit *limit) {
    limit->took(bytes());
    limit_ = limit;
}

void *Direct::map(std::size_t bytes, std::size_t alignment) const {
    void *const p = platform::map(bytes, alignment);
    if (p != nullptr && bytes >= kChunkBytes && huge_pages_ != HugePolicy::automatic) {
        platform::allow_huge_pages(p, bytes, huge_pages_ == HugePolicy::always);
    }
    return p;
}

void *Direct::allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t rounded = align_up(bytes == 0 ? 1 : bytes, platform::page_size());
    if (rounded < bytes || !may_take(rounded)) return nullptr;
    void *const p = map(rounded, alignment);
    if (p != nullptr && insert(reinterpret_cast<std::uintptr_t>(p), rounded)) return p;
    if (p == nullptr) {
        gave(rounded);
    } else {
        give_back(p, rounded);
    }
    return nullptr;
}

// Memory that the kernel refuses to take counts against the limit until the kernel has taken it.
void Direct::give_back(void *p, std::size_t bytes) {
    if (platform::unmap(p, bytes)) return gave(bytes);
    auto *const kept = static_cast<Unreturned *>(p);
    kept->bytes = bytes;
    unreturned_.push(kept);
}

bool Direct::release(void *p) {
    std::uintptr_t address = reinterpret_cast<std::uintptr_t>(p);
    Entry *const entry = find(address);
    if (entry == nullptr) return false;
    const std::size_t bytes = entry->bytes.load(std::memory_order_relaxed);
    if (!entry->address.compare_exchange_strong(address, kGone, std::memory_order_acq_rel)) return false;
    subtract(bytes);
    Unreturned *again = unreturned_.has_any() ? unreturned_.take_all() : nullptr;
    give_back(p, bytes);
    while (again != nullptr) {
        Unreturned *const next = again->link.load(std::memory_order_relaxed);
        give_back(again, again->bytes);
        again = next;
    }
    return true;
}

void Direct::release_all() {
    for (std::size_t i = 0; i < entry_count() && count() != 0; ++i) {
        // release() finds no entry of another Direct, even if this address is another's by now.
        release(reinterpret_cast<void *>(entries()[i].address.load(std::memory_order_relaxed)));
    }
}

std::size_t Direct::size_of(const void *p) const {
    const Entry *const entry = find(reinterpret_cast<std::uintptr_t>(p));
    return entry == nullptr ? 0 : entry->bytes.load(std::memory_order_relaxed);
}

void *Direct::resize(void *p, std::size_t bytes) {
    const std::size_t rounded = align_up(bytes, platform::page_size());
    const std::size_t old = size_of(p);
    if (rounded < bytes || old == 0) return nullptr;
    if (rounded == old) return p;
    // After the move the table must have room for the new address.
    if (used_entries_.load(std::memory_order_relaxed) + kReserve > entry_count()) return nullptr;
    if (rounded > old && !may_take(rounded - old)) return nullptr;
    Entry *const entry = find(reinterpret_cast<std::uintptr_t>(p));
    entry->address.store(kClaimed, std::memory_order_relaxed);
    void *const moved = platform::remap(p, old, rounded);
    if (moved == nullptr) {
        entry->address.store(reinterpret_cast<std::uintptr_t>(p), std::memory_order_release);
        if (rounded > old) gave(rounded - old);
        return nullptr;
    }
    if (rounded < old) gave(old - rounded);
    subtract(old);
    entry->address.store(kGone, std::memory_order_release);
    insert(reinterpret_cast<std::uintptr_t>(moved), rounded);
    return moved;
}

// No other thread may use the block meanwhile, and its address stays. So the entry need not be claimed.
bool Direct::resize_in_place(void *p, std::size_t bytes) {
    const std::size_t rounded = align_up(bytes == 0 ? 1 : bytes, platform::page_size());
    Entry *const entry = find(reinterpret_cast<std::uintptr_t>(p));
    if (rounded < bytes || entry == nullptr) return false;
    const std::size_t old = entry->bytes.load(std::memory_order_relaxed);
    if (rounded == old) return true;
    if (rounded > old && !may_take(rounded - old)) return false;
    if (!platform::remap_in_place(p, old, rounded)) {
        if (rounded > old) gave(rounded - old);
        return false;
    }
    entry->bytes.store(rounded, std::memory_order_relaxed);
    if (rounded > old) {
        add_bytes(rounded - old);
    } else {
        bytes_.fetch_sub(old - rounded, std::memory_order_relaxed);
        gave(old - rounded);
    }
    return true;
}

}  // namespace gr
