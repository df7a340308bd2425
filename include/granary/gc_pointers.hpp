// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how a C++ program says where the addresses in objects of its types lie.
// Invariant: what is said holds for every allocation of the type by granary/gc_allocator.hpp. A type of which nothing is
//    said is traced whole: every word of it may be an address.
// Must not know: how memory is allocated.
#ifndef GRANARY_GC_POINTERS_HPP
#define GRANARY_GC_POINTERS_HPP

#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include "granary/gc.h"

namespace gr {

// True if objects of type T hold no addresses. Specialise it to true for your classes that hold none, and to false for
// integer types in which you store addresses.
template <class T>
struct is_pointer_free : std::bool_constant<std::is_arithmetic_v<T> || std::is_enum_v<T>> {};
template <class T, std::size_t N>
struct is_pointer_free<T[N]> : is_pointer_free<T> {};
template <class T>
struct is_pointer_free<const T> : is_pointer_free<T> {};
template <>
struct is_pointer_free<std::size_t> : std::false_type {};  // std::uintptr_t may be this type
template <>
struct is_pointer_free<std::ptrdiff_t> : std::false_type {};

// Where the addresses in a T lie. Either name the members that hold them, in the global namespace:
//
//     struct Node { Node *left, *right; double weight; };
//     GR_GC_POINTERS(Node, &Node::left, &Node::right);
//
// A member may be a pointer, an array, a class with its own GR_GC_POINTERS, which counts word by word, or any other
// class, which counts whole. For private members make the trait a friend: friend struct gr::gc_pointers<Node>.
// Or specialise the trait with a function that returns a std::array of offsets in bytes:
//
//     template <>
//     struct gr::gc_pointers<Node> {
//         static constexpr auto offsets() { return std::array{offsetof(Node, left), offsetof(Node, right)}; }
//     };
//
// Every member that holds an address must be named, also those of base classes: an object to which only an unnamed member
// refers is collected.
template <class T>
struct gc_pointers {};

#define GR_GC_POINTERS(Type, ...) \
    template <>                   \
    struct gr::gc_pointers<Type> : gr::gc_members<Type, __VA_ARGS__> {}

// Whether the program has said where the addresses in a T lie.
template <class T, class = void>
struct has_gc_pointers : std::false_type {};
template <class T>
struct has_gc_pointers<T, std::void_t<decltype(gc_pointers<T>::offsets())>> : std::true_type {};

// The words of a value of type T that may be addresses: how many, and their offsets, written one behind the other.
template <class T>
struct gc_words {
    static constexpr std::size_t count() {
        if constexpr (is_pointer_free<T>::value) {
            return 0;
        } else if constexpr (std::is_array_v<T>) {
            return std::extent_v<T> * gc_words<std::remove_extent_t<T>>::count();
        } else if constexpr (has_gc_pointers<T>::value) {
            return std::tuple_size<decltype(gc_pointers<T>::offsets())>::value;
        } else {
            return sizeof(T) / sizeof(void *);
        }
    }
    // Returns the end of what was written.
    static std::size_t *write(std::size_t *out, std::size_t at) {
        if constexpr (is_pointer_free<T>::value) {
            return out;
        } else if constexpr (std::is_array_v<T>) {
            using Element = std::remove_extent_t<T>;
            for (std::size_t i = 0; i < std::extent_v<T>; ++i)
                out = gc_words<Element>::write(out, at + i * sizeof(Element));
            return out;
        } else if constexpr (has_gc_pointers<T>::value) {
            for (const std::size_t offset : gc_pointers<T>::offsets()) *out++ = at + offset;
            return out;
        } else {
            static_assert(
                alignof(T) % alignof(void *) == 0,
                "addresses lie at multiples of their size; specialise gr::is_pointer_free if this type has none");
            for (std::size_t offset = 0; offset + sizeof(void *) <= sizeof(T); offset += sizeof(void *))
                *out++ = at + offset;
            return out;
        }
    }
};
template <class T>
struct gc_words<const T> : gc_words<T> {};

template <class T>
struct gc_member_of;
template <class Class, class Member>
struct gc_member_of<Member Class::*> {
    using type = Member;
};

// What GR_GC_POINTERS makes of pointers to members.
template <class T, auto... kMembers>
struct gc_members {
    static auto offsets() {
        std::array<std::size_t, (gc_words<member<kMembers>>::count() + ... + 0)> all{};
        std::size_t *out = all.data();
        ((out = gc_words<member<kMembers>>::write(out, offset_of(static_cast<member<kMembers> T::*>(kMembers)))), ...);
        return all;
    }

  private:
    template <auto kMember>
    using member = typename gc_member_of<std::remove_cv_t<decltype(kMember)>>::type;

    // A pointer to a member is the member's offset, by the C++ ABI of Linux.
    template <class Member>
    static std::size_t offset_of(Member T::*pointer) {
        static_assert(sizeof pointer == sizeof(std::size_t));
        std::size_t offset = 0;
        std::memcpy(&offset, &pointer, sizeof offset);
        return offset;
    }
};

// The collector's type for T, made by the first call. Throws std::bad_alloc if there is no memory; the next call tries
// again.
template <class T>
const gr_gc_type *gc_type_of() {
    static const gr_gc_type *const type = [] {
        const auto offsets = gc_pointers<T>::offsets();
        const gr_gc_type *const made = gr_gc_type_of_offsets(offsets.data(), offsets.size());
        if (made == nullptr) throw std::bad_alloc();
        return made;
    }();
    return type;
}

}  // namespace gr

#endif
