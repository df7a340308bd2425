// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where a workload's blocks come from: malloc, calloc, or a collector's GC_malloc or GC_malloc_atomic
//    (--by); and whether they are freed (--keep).
// Invariant: the collector is whichever is preloaded, found by the names of its functions. Each of the workload's
//    threads is known to it while it holds a Member.
// Must not know: which malloc or which collector it is; what the workload does with its blocks.
#pragma once

#include <dlfcn.h>

#include "workload.hpp"

namespace gr::bench {

// What these workloads want of gc.h.
class Collector {
  public:
    struct StackBase {
        void *parts[2];
    };

    // Ends the program where there is none.
    void start() {
        find("GC_malloc", malloc);
        find("GC_malloc_atomic", malloc_atomic);
        find("GC_free", free);
        find("GC_add_roots", add_roots);
        find("GC_expand_hp", expand_hp);
        find("GC_get_gc_no", get_gc_no);
        find("GC_get_heap_size", get_heap_size);
        find("GC_get_stack_base", get_stack_base);
        find("GC_register_my_thread", register_my_thread);
        find("GC_unregister_my_thread", unregister_my_thread);
        void (*init)() = nullptr;
        void (*allow_register_threads)() = nullptr;
        find("GC_init", init);
        find("GC_allow_register_threads", allow_register_threads);
        init();
        allow_register_threads();
    }

    void *(*malloc)(std::size_t) = nullptr;
    void *(*malloc_atomic)(std::size_t) = nullptr;
    void (*free)(void *) = nullptr;
    void (*add_roots)(void *begin, void *end) = nullptr;
    int (*expand_hp)(std::size_t) = nullptr;
    std::size_t (*get_gc_no)() = nullptr;
    std::size_t (*get_heap_size)() = nullptr;
    int (*get_stack_base)(StackBase *) = nullptr;
    int (*register_my_thread)(const StackBase *) = nullptr;
    int (*unregister_my_thread)() = nullptr;

  private:
    template <typename Function>
    static void find(const char *name, Function &function) {
        function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
        if (function == nullptr) fail("%s: no collector is preloaded", name);
    }
};

class Memory {
  public:
    void add_options(Options &options) {
        options.word("--by", by_, "malloc, calloc, or of the collector that is preloaded gc or gc-atomic",
                     {"malloc", "calloc", "gc", "gc-atomic"});
        options.flag("--keep", keep_, "nothing is freed: that is left to a collector");
        options.number("--heap-mib", heap_mib_, "a collector's, for each thread, before the clock starts");
    }

    // In the main thread, before any other exists.
    void start(const Settings &settings) {
        if (by_ == "calloc") take_ = take_pointer_free_ = zeroed;
        if (by_ != "gc" && by_ != "gc-atomic") return;
        collector_.start();
        take_ = by_ == "gc" ? collector_.malloc : collector_.malloc_atomic;
        take_pointer_free_ = collector_.malloc_atomic;
        give_ = collector_.free;
        const std::size_t bytes = settings.threads * heap_mib_ << 20;
        if (bytes != 0 && collector_.expand_hp(bytes) == 0) fail("GC_expand_hp(%zu) failed", bytes);
    }

    bool keeps() const { return keep_; }
    void *take(std::size_t size) const { return taken(take_(size), size); }
    void *take_pointer_free(std::size_t size) const { return taken(take_pointer_free_(size), size); }
    void give(void *block) const {
        if (!keep_) give_(block);
    }
    // What lies in malloc's memory and refers to blocks; it stays there.
    void add_roots(void *begin, void *end) const {
        if (collects()) collector_.add_roots(begin, end);
    }
    // What the collector tells at the end.
    void note(Workload &workload) const {
        if (!collects()) return;
        workload.note("collections", static_cast<double>(collector_.get_gc_no()));
        workload.note("heap_bytes", static_cast<double>(collector_.get_heap_size()));
    }

    // A thread that takes blocks; the main thread needs none.
    class Member {
      public:
        explicit Member(const Memory &memory) : memory_(memory) {
            if (!memory.collects()) return;
            Collector::StackBase base{};
            if (memory.collector_.get_stack_base(&base) != 0 || memory.collector_.register_my_thread(&base) != 0)
                fail("the collector does not take a thread");
        }
        ~Member() {
            if (memory_.collects()) memory_.collector_.unregister_my_thread();
        }
        Member(const Member &) = delete;
        Member &operator=(const Member &) = delete;

      private:
        const Memory &memory_;
    };

  private:
    bool collects() const { return collector_.malloc != nullptr; }

    static void *zeroed(std::size_t size) { return std::calloc(1, size); }
    static void *taken(void *block, std::size_t size) {
        if (block == nullptr) fail("a block of %zu bytes: out of memory", size);
        return block;
    }

    std::string by_ = "malloc";
    bool keep_ = false;
    std::size_t heap_mib_ = 0;
    void *(*take_)(std::size_t) = std::malloc;
    void *(*take_pointer_free_)(std::size_t) = std::malloc;
    void (*give_)(void *) = std::free;
    Collector collector_;
};

}  // namespace gr::bench
