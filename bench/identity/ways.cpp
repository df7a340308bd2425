// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: way.hpp: the ways there are on Linux with glibc, and on x86-64 the instructions that tell the CPU.
// Invariant: a way is listed only where it works.
// Must not know: how long a way takes.
#include <pthread.h>
#include <sched.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstddef>

#include "slot.hpp"
#include "stack_hash.hpp"
#include "way.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace gr::bench {
namespace {

// What a call costs: whatever lies in the register.
Identity empty() {
    Identity identity;
    asm("" : "=r"(identity));
    return identity;
}

Identity self() { return pthread_self(); }

pthread_key_t key() {
    static const pthread_key_t made = [] {
        pthread_key_t fresh{};
        pthread_key_create(&fresh, nullptr);
        return fresh;
    }();
    return made;
}
const pthread_key_t specific_key = key();

Identity get_specific() { return reinterpret_cast<Identity>(pthread_getspecific(specific_key)); }
void set_specific(Identity identity) { pthread_setspecific(specific_key, reinterpret_cast<void *>(identity)); }

Identity thread_id() { return static_cast<Identity>(syscall(SYS_gettid)); }

// A load from the area that the kernel keeps up to date; libc tells where it lies.
Identity rseq_cpu() {
    const auto *const area = static_cast<const char *>(__builtin_thread_pointer()) + __rseq_offset;
    return reinterpret_cast<const volatile struct rseq *>(area)->cpu_id;
}

Identity scheduler_cpu() { return static_cast<Identity>(sched_getcpu()); }

Identity vdso_cpu() {
    unsigned cpu = 0;
    getcpu(&cpu, nullptr);
    return cpu;
}

#ifdef __x86_64__
constexpr Identity kCpuMask = 0xfff;  // Linux keeps the node above it

Identity rdpid() {
    Identity value = 0;
    asm volatile("rdpid %0" : "=r"(value));
    return value & kCpuMask;
}

Identity rdtscp() {
    unsigned value = 0;
    asm volatile("rdtscp" : "=c"(value) : : "eax", "edx");
    return value & kCpuMask;
}

void add_instructions(std::vector<Way> &list) {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    constexpr unsigned kRdpid = 1U << 22;
    constexpr unsigned kRdtscp = 1U << 27;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & kRdpid) != 0)
        list.push_back({"rdpid", Way::Tells::cpu, rdpid});
    if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (d & kRdtscp) != 0)
        list.push_back({"rdtscp", Way::Tells::cpu, rdtscp});
}
#else
void add_instructions(std::vector<Way> &) {}
#endif

}  // namespace

std::vector<Way> ways() {
    using enum Way::Tells;
    std::vector<Way> list = {
        {"empty", nothing, empty},
        {"tls-local-exec", thread, local_exec::get, local_exec::set},
        {"tls-initial-exec", thread, initial_exec::get, initial_exec::set},
        {"tls-descriptor", thread, descriptor::get, descriptor::set},
        {"tls-global-dynamic", thread, global_dynamic::get, global_dynamic::set},
        {"stack-hash", thread, stack_hash::get, stack_hash::set},
        {"stack-hash-missed", thread, stack_hash::get_slowly, stack_hash::set},
        {"pthread_self", thread, self},
        {"pthread_getspecific", thread, get_specific, set_specific},
        {"gettid", thread, thread_id},
        {"sched_getcpu", cpu, scheduler_cpu},
        {"getcpu", cpu, vdso_cpu},
    };
    if (__rseq_size != 0) list.push_back({"rseq-cpu_id", cpu, rseq_cpu});
    add_instructions(list);
    return list;
}

}  // namespace gr::bench
