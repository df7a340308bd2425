// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: system_call_filters.hpp, by a reader of the kernel's classic packet filters.
// Invariant: as there. An instruction that no filter of system calls may have counts as harm.
// Must not know: which calls are asked about.
#include "commands/record/attach/system_call_filters.hpp"

#include <linux/seccomp.h>
#include <sys/ptrace.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "commands/record/attach/machine/machine.hpp"

namespace gr::tool {

namespace {

constexpr int kGetFilter = 0x420c;  // PTRACE_SECCOMP_GET_FILTER

long get_filter(int thread, unsigned long number, sock_filter *to) {
    return ::ptrace(static_cast<__ptrace_request>(kGetFilter), thread, number, to);
}

class Machine {
  public:
    Machine(const SystemCallFilters::Filter &filter, const seccomp_data &call) : filter_(filter), call_(call) {}

    // Nothing: the filter is broken.
    std::optional<std::uint32_t> run() {
        while (at_ < filter_.size() && !is_broken_) {
            const sock_filter &each = filter_[at_++];
            switch (BPF_CLASS(each.code)) {
                case BPF_LD:
                    a_ = loaded(each);
                    break;
                case BPF_LDX:
                    x_ = loaded(each);
                    break;
                case BPF_ST:
                    word(each.k) = a_;
                    break;
                case BPF_STX:
                    word(each.k) = x_;
                    break;
                case BPF_ALU:
                    a_ = computed(each);
                    break;
                case BPF_JMP:
                    jump(each);
                    break;
                case BPF_RET:
                    return BPF_RVAL(each.code) == BPF_A ? a_ : each.k;
                default:
                    BPF_MISCOP(each.code) == BPF_TAX ? x_ = a_ : a_ = x_;
                    break;
            }
        }
        return std::nullopt;
    }

  private:
    std::uint32_t &word(std::uint32_t number) {
        is_broken_ = is_broken_ || number >= words_.size();
        return words_[number % words_.size()];
    }

    std::uint32_t loaded(const sock_filter &each) {
        switch (BPF_MODE(each.code)) {
            case BPF_IMM:
                return each.k;
            case BPF_MEM:
                return word(each.k);
            case BPF_LEN:
                return sizeof call_;
            case BPF_ABS: {
                std::uint32_t value = 0;
                is_broken_ = is_broken_ || each.k > sizeof call_ - sizeof value;
                if (!is_broken_) std::memcpy(&value, reinterpret_cast<const char *>(&call_) + each.k, sizeof value);
                return value;
            }
            default:
                is_broken_ = true;
                return 0;
        }
    }

    std::uint32_t computed(const sock_filter &each) {
        const std::uint32_t other = BPF_SRC(each.code) == BPF_X ? x_ : each.k;
        constexpr std::uint32_t kBits = 32;
        switch (BPF_OP(each.code)) {
            case BPF_ADD:
                return a_ + other;
            case BPF_SUB:
                return a_ - other;
            case BPF_MUL:
                return a_ * other;
            case BPF_DIV:
                return other == 0 ? 0 : a_ / other;
            case BPF_AND:
                return a_ & other;
            case BPF_OR:
                return a_ | other;
            case BPF_XOR:
                return a_ ^ other;
            case BPF_LSH:
                return other >= kBits ? 0 : a_ << other;
            case BPF_RSH:
                return other >= kBits ? 0 : a_ >> other;
            case BPF_NEG:
                return 0 - a_;
            default:
                is_broken_ = true;
                return 0;
        }
    }

    void jump(const sock_filter &each) {
        const std::uint32_t other = BPF_SRC(each.code) == BPF_X ? x_ : each.k;
        switch (BPF_OP(each.code)) {
            case BPF_JA:
                at_ += each.k;
                break;
            case BPF_JEQ:
                at_ += a_ == other ? each.jt : each.jf;
                break;
            case BPF_JGT:
                at_ += a_ > other ? each.jt : each.jf;
                break;
            case BPF_JGE:
                at_ += a_ >= other ? each.jt : each.jf;
                break;
            case BPF_JSET:
                at_ += (a_ & other) != 0 ? each.jt : each.jf;
                break;
            default:
                is_broken_ = true;
                break;
        }
    }

    const SystemCallFilters::Filter &filter_;
    const seccomp_data &call_;
    std::size_t at_ = 0;
    std::uint32_t a_ = 0;
    std::uint32_t x_ = 0;
    std::array<std::uint32_t, BPF_MEMWORDS> words_{};
    bool is_broken_ = false;
};

bool is_harm(std::optional<std::uint32_t> answer) {
    if (!answer) return true;
    const std::uint32_t action = *answer & SECCOMP_RET_ACTION_FULL;
    return action == SECCOMP_RET_KILL_PROCESS || action == SECCOMP_RET_KILL_THREAD || action == SECCOMP_RET_TRAP;
}

}  // namespace

std::optional<SystemCallFilters> SystemCallFilters::of(const StoppedThread &thread) {
    std::vector<Filter> filters;
    for (;;) {
        const long count = get_filter(thread.id(), filters.size(), nullptr);
        if (count < 0 && errno == ENOENT && !filters.empty()) return SystemCallFilters(std::move(filters));
        if (count <= 0) return std::nullopt;
        Filter filter(static_cast<std::size_t>(count));
        if (get_filter(thread.id(), filters.size(), filter.data()) != count) return std::nullopt;
        filters.push_back(std::move(filter));
    }
}

bool SystemCallFilters::would_harm(long call) const {
    seccomp_data data{};
    data.nr = static_cast<int>(call);
    data.arch = filter_architecture();
    for (const Filter &filter : filters_) {
        if (is_harm(Machine(filter, data).run())) return true;
    }
    return false;
}

}  // namespace gr::tool
