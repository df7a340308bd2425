// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a list that grows in memory of its own from the kernel, for code that may not allocate.
// Invariant: size() <= capacity; an element that add() refused is not in the list.
// Must not know: what its elements are.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "platform/memory.hpp"
#include "platform/world/range.hpp"

namespace gr::platform {

template <class T>
requires std::is_trivially_copyable_v<T>
class MappedList {
  public:
    constexpr MappedList() = default;
    MappedList(const MappedList &) = delete;
    MappedList &operator=(const MappedList &) = delete;

    std::size_t size() const { return size_; }
    bool is_empty() const { return size_ == 0; }
    T &operator[](std::size_t i) { return elements_[i]; }
    const T &operator[](std::size_t i) const { return elements_[i]; }
    std::span<T> all() { return {elements_, size_}; }
    std::span<const T> all() const { return {elements_, size_}; }
    Growing memory() const { return {&elements_, &capacity_, sizeof(T)}; }
    // All of the memory, also that behind the last element.
    Range room() const {
        const auto *const begin = reinterpret_cast<const char *>(elements_);
        return {begin, begin + capacity_ * sizeof(T)};
    }

    // false: no memory.
    [[nodiscard]] bool add(const T &element) {
        if (size_ == capacity_ && !grow()) return false;
        elements_[size_++] = element;
        return true;
    }
    T &last() { return elements_[size_ - 1]; }
    T take_last() { return elements_[--size_]; }
    void remove(std::size_t i) { elements_[i] = elements_[--size_]; }
    // Keeps the first `size` elements.
    void shrink(std::size_t size) { size_ = size; }
    // Keeps the memory.
    void clear() { size_ = 0; }
    void release() {
        if (elements_ != nullptr) unmap(elements_, capacity_ * sizeof(T));
        elements_ = nullptr;
        size_ = capacity_ = 0;
    }

  private:
    bool grow() {
        const std::size_t least = page_size() / sizeof(T) + 1;
        const std::size_t wanted = capacity_ == 0 ? least : capacity_ * 2;
        void *const grown = elements_ == nullptr ? map(wanted * sizeof(T), 1)
                                                 : remap(elements_, capacity_ * sizeof(T), wanted * sizeof(T));
        if (grown == nullptr) return false;
        elements_ = static_cast<T *>(grown);
        capacity_ = wanted;
        return true;
    }

    T *elements_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace gr::platform
