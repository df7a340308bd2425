// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: every replaceable operator new and delete.
// Invariant: the C++ standard's contract: aligned storage or the new_handler loop, then bad_alloc or a null pointer.
// Must not know: that some of them share an implementation.
#include "support.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <memory>
#include <new>
#include <string>

namespace gr::conformance {
namespace {

using std::align_val_t;
using std::nothrow;

// Each delete, told what the standard lets it be told.
TEST(Operators, EveryPlainForm) {
    for (std::size_t size : boundary_sizes()) {
        for (int form = 0; form < 4; ++form) {
            void *single = form < 2 ? ::operator new(size) : ::operator new(size, nothrow);
            void *array = form < 2 ? ::operator new[](size) : ::operator new[](size, nothrow);
            ASSERT_NE(single, nullptr);
            ASSERT_NE(array, nullptr);
            ASSERT_NE(single, array);
            EXPECT_TRUE(aligned(single, kMinimumAlignment));
            EXPECT_TRUE(aligned(array, kMinimumAlignment));
            EXPECT_GE(malloc_usable_size(single), size);
            std::memset(single, 1, size);
            std::memset(array, 2, size);
            if (form % 2 == 0) {
                ::operator delete(single);
                ::operator delete[](array);
            } else if (form == 1) {
                ::operator delete(single, size);
                ::operator delete[](array, size);
            } else {
                ::operator delete(single, nothrow);
                ::operator delete[](array, nothrow);
            }
        }
    }
}

TEST(Operators, AnAlignmentThatIsNoPowerOfTwoIsRefused) {
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{24}, std::size_t{0x9000}}) {
        const align_val_t wrong{alignment};
        EXPECT_THROW((void)::operator new(100, wrong), std::bad_alloc);
        EXPECT_THROW((void)::operator new[](60000000, wrong), std::bad_alloc);
        EXPECT_EQ(::operator new(100, wrong, nothrow), nullptr);
        EXPECT_EQ(::operator new[](60000000, wrong, nothrow), nullptr);
    }
}

TEST(Operators, EveryAlignedForm) {
    for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{24}, std::size_t{100}, 3 * kKiB, 70 * kKiB}) {
        for (std::size_t power = 1; power <= kMiB; power *= 4) {
            const align_val_t alignment{power};
            for (int form = 0; form < 3; ++form) {
                void *single = form < 2 ? ::operator new(size, alignment) : ::operator new(size, alignment, nothrow);
                void *array = form < 2 ? ::operator new[](size, alignment) : ::operator new[](size, alignment, nothrow);
                ASSERT_TRUE(single != nullptr && array != nullptr && single != array);
                EXPECT_TRUE(aligned(single, power));
                EXPECT_TRUE(aligned(array, power));
                std::memset(single, 1, size);
                std::memset(array, 2, size);
                if (form == 0) {
                    ::operator delete(single, alignment);
                    ::operator delete[](array, alignment);
                } else if (form == 1) {
                    ::operator delete(single, size, alignment);
                    ::operator delete[](array, size, alignment);
                } else {
                    ::operator delete(single, alignment, nothrow);
                    ::operator delete[](array, alignment, nothrow);
                }
            }
        }
    }
}

void *none() { return opaque<void *>(nullptr); }

TEST(Operators, DeleteOfNothing) {
    const align_val_t alignment{64};
    ::operator delete(none());
    ::operator delete[](none());
    ::operator delete (none(), std::size_t{8});
    ::operator delete[](none(), std::size_t{8});
    ::operator delete(none(), nothrow);
    ::operator delete[](none(), nothrow);
    ::operator delete(none(), alignment);
    ::operator delete[](none(), alignment);
    ::operator delete (none(), std::size_t{8}, alignment);
    ::operator delete[](none(), std::size_t{8}, alignment);
    ::operator delete(none(), alignment, nothrow);
    ::operator delete[](none(), alignment, nothrow);
}

TEST(Operators, TypesThatTheCompilerAligns) {
    struct alignas(512) Wide {
        char bytes[700];
    };
    for (int i = 0; i < 100; ++i) {
        auto one = std::make_unique<Wide>();
        auto many = std::make_unique<Wide[]>(3);
        EXPECT_TRUE(aligned(opaque(one.get()), 512));
        EXPECT_TRUE(aligned(opaque(many.get()), 512));
    }
    std::string text;
    for (int i = 0; i < 100000; ++i) {
        text += static_cast<char>('a' + i % 26);
    }
    EXPECT_EQ(text[99999], static_cast<char>('a' + 99999 % 26));
}

// Restores the handler that was there; counts calls.
class Handler {
  public:
    explicit Handler(std::new_handler handler) : before_(std::set_new_handler(handler)) { calls_ = 0; }
    ~Handler() { std::set_new_handler(before_); }
    Handler(const Handler &) = delete;
    Handler &operator=(const Handler &) = delete;

    static void give_up_on_the_third() {
        if (++calls_ == 3) {
            std::set_new_handler(nullptr);
        }
    }
    static void throw_at_once() {
        ++calls_;
        throw std::bad_alloc();
    }
    static int calls() { return calls_; }

  private:
    std::new_handler before_;
    static inline int calls_ = 0;
};

constexpr std::size_t kImpossible = SIZE_MAX - 4096;

template <typename Allocation>
void expect_bad_alloc(Allocation allocation) {
    const Handler handler(Handler::give_up_on_the_third);
    EXPECT_THROW(opaque(allocation()), std::bad_alloc);
    EXPECT_EQ(Handler::calls(), 3) << "the new_handler must be called again until there is none";
}

TEST(Operators, BadAllocAfterTheHandlerGaveUp) {
    expect_bad_alloc([] { return ::operator new(opaque(kImpossible)); });
    expect_bad_alloc([] { return ::operator new[](opaque(kImpossible)); });
    expect_bad_alloc([] { return ::operator new (opaque(kImpossible), align_val_t{64}); });
    expect_bad_alloc([] { return ::operator new[](opaque(kImpossible), align_val_t{64}); });
}

TEST(Operators, BadAllocWithoutAHandler) {
    EXPECT_EQ(std::get_new_handler(), nullptr);
    EXPECT_THROW(opaque(::operator new(opaque(kImpossible))), std::bad_alloc);
    EXPECT_THROW(opaque(::operator new(opaque(kPtrdiffMax + 1))), std::bad_alloc);
    // The C++ runtime's own operator, which other mallocs leave in place, lets this size wrap.
    if (black_box::expect_granary()) {
        EXPECT_THROW(opaque(::operator new (opaque(SIZE_MAX), align_val_t{4096})), std::bad_alloc);
    }
    EXPECT_THROW(std::vector<char>().reserve(opaque(kPtrdiffMax)), std::bad_alloc);
}

template <typename Allocation>
void expect_null(Allocation allocation) {
    {
        const Handler handler(nullptr);
        EXPECT_EQ(opaque(allocation()), nullptr);
    }
    const Handler handler(Handler::give_up_on_the_third);
    EXPECT_EQ(opaque(allocation()), nullptr);
    EXPECT_EQ(Handler::calls(), 3);
}

TEST(Operators, NothrowGivesNull) {
    expect_null([] { return ::operator new(opaque(kImpossible), nothrow); });
    expect_null([] { return ::operator new[](opaque(kImpossible), nothrow); });
    expect_null([] { return ::operator new (opaque(kImpossible), align_val_t{64}, nothrow); });
    expect_null([] { return ::operator new[](opaque(kImpossible), align_val_t{64}, nothrow); });
}

TEST(Operators, HandlerMayThrow) {
    const Handler handler(Handler::throw_at_once);
    EXPECT_THROW(opaque(::operator new(opaque(kImpossible))), std::bad_alloc);
    EXPECT_EQ(Handler::calls(), 1);
}

TEST(Operators, HandlerThatThrowsMakesNothrowGiveNull) {
    const Handler handler(Handler::throw_at_once);
    EXPECT_EQ(opaque(::operator new(opaque(kImpossible), nothrow)), nullptr);
    EXPECT_EQ(Handler::calls(), 1);
}

TEST(Operators, TheHeapWorksAfterBadAlloc) {
    for (int i = 0; i < 100; ++i) {
        EXPECT_THROW(opaque(::operator new(opaque(kImpossible))), std::bad_alloc);
        void *block = ::operator new(100);
        std::memset(block, 1, 100);
        ::operator delete(block);
    }
}

}  // namespace
}  // namespace gr::conformance
