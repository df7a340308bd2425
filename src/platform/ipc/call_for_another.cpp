// SPDX-License-Identifier: Apache-2.0 OR MIT
// dlopen returns to an instruction `ret` of the other module, and this instruction returns here.
#include "platform/ipc/call_for_another.hpp"

#include <cstddef>

#include "platform/ipc/loaded_object.hpp"

#if defined(__x86_64__)
extern "C" void *gr_call_by_way_of(void *(*open)(const char *, int), const char *file, int flags, const void *ret);

// The stack is as a call by the other module would leave it, and the tables for call stacks know this frame.
asm(R"(
    .text
    .type gr_call_by_way_of, @function
    .hidden gr_call_by_way_of
gr_call_by_way_of:
    .cfi_startproc
    endbr64
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub $8, %rsp
    mov %rdi, %rax
    mov %rsi, %rdi
    mov %edx, %esi
    lea 1f(%rip), %r8
    push %r8
    push %rcx
    jmp *%rax
1:
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size gr_call_by_way_of, . - gr_call_by_way_of
)");

namespace gr::platform {
namespace {

constexpr std::size_t kMostBytes = 4096;

// The CPU would refuse to return where no call came from.
bool has_shadow_stack() {
    unsigned long pointer = 0;
    asm volatile("rdsspq %0" : "+r"(pointer));
    return pointer != 0;
}

const void *ret_behind(const void *caller) {
    constexpr unsigned char kRet = 0xc3;
    const LoadedObject module(caller);
    const auto *const code = static_cast<const unsigned char *>(caller);
    for (std::size_t i = 0; i < kMostBytes && module.contains(code + i); ++i) {
        if (code[i] == kRet) return code + i;
    }
    return nullptr;
}

}  // namespace

void *call_for_another(void *(*open)(const char *, int), const char *file, int flags, const void *caller) {
    const void *const ret = has_shadow_stack() ? nullptr : ret_behind(caller);
    return ret == nullptr ? open(file, flags) : gr_call_by_way_of(open, file, flags, ret);
}

}  // namespace gr::platform
#else
namespace gr::platform {

void *call_for_another(void *(*open)(const char *, int), const char *file, int flags, const void *) {
    return open(file, flags);
}

}  // namespace gr::platform
#endif
