// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a host that opens a plugin with RTLD_DEEPBIND; blocks cross both ways. The first argument says what must
//    come of the flag: mend, drop, refused (mend where libc's table of symbols may not be changed), or emulated
//    (either: it depends on how that libc was linked).
// Invariant: the plugin gets the process's malloc whatever is said; its own names only if the flag stayed. Each scene is a
//    child that has opened nothing so far.
// Must not know: how the library brings that about.
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "black_box.hpp"
#include "plugin.hpp"

extern "C" void *opener_open(const char *name, int flags);
extern "C" void *opener_open_in(long space, const char *name, int flags);

extern "C" [[gnu::visibility("default")]] int deep_answer() { return kHostsAnswer; }

namespace {

constexpr const char *kPlugin = "deep_plugin.so";
constexpr const char *kSecondPlugin = "deep_second_plugin.so";
constexpr int kDeep = RTLD_LAZY | RTLD_GLOBAL | RTLD_DEEPBIND;  // as PHP
constexpr std::size_t kLargest = 300'000;

bool must_keep_flag = false;
bool may_keep_flag = false;

void host_frees(const Plugin &plugin, int way, std::size_t size) {
    void *const block = plugin.allocate(way, size);
    GR_REQUIRE(block != nullptr);
    GR_REQUIRE(gr_owns(block) == 1);
    std::free(block);
}

void plugin_frees(const Plugin &plugin, std::size_t size) {
    void *const block = gr::black_box::opaque(std::malloc(size));
    GR_REQUIRE(plugin.usable_size(block) >= size);
    plugin.release(block);
    plugin.release(plugin.resize(gr::black_box::opaque(std::malloc(size)), 2 * size));
    plugin.remove(::operator new(size));
}

void cross(const Plugin &plugin) {
    for (std::size_t size = 1; size < kLargest; size = size * 2 + 1) {
        for (int way = 0; way < kFirstWayOnce; ++way) host_frees(plugin, way, size);
        plugin_frees(plugin, size);
    }
}

Plugin opened(void *handle) {
    if (handle == nullptr) gr::black_box::leave(1, "%s\n", dlerror());
    return Plugin(handle);
}

void blocks_cross() {
    const Plugin plugin = opened(opener_open(kPlugin, kDeep));
    cross(plugin);
    for (int way = kFirstWayOnce; way < kWays; ++way) host_frees(plugin, way, 0);
    if (may_keep_flag == must_keep_flag) {
        GR_REQUIRE(plugin.answer() == (must_keep_flag ? kPluginsAnswer : kHostsAnswer));
    }
}

// What the opener's search path finds nobody else's does; and libc may ask whose call it is for $ORIGIN, too.
void only_the_caller_finds_it() {
    GR_REQUIRE(dlopen(kPlugin, kDeep) == nullptr);
    GR_REQUIRE(dlopen("$ORIGIN/plugins/deep_plugin.so", kDeep) == nullptr);
    GR_REQUIRE(opener_open("$ORIGIN/plugins/deep_plugin.so", kDeep) != nullptr);
    GR_REQUIRE(opener_open_in(LM_ID_BASE, kSecondPlugin, kDeep) != nullptr);
    void *const program = dlopen(nullptr, kDeep);
    GR_REQUIRE(program != nullptr);
    GR_REQUIRE(dlsym(program, "deep_answer") == reinterpret_cast<void *>(deep_answer));
}

void without_the_flag_nothing_changes() {
    const Plugin plugin = opened(opener_open(kPlugin, RTLD_NOW));
    cross(plugin);
    GR_REQUIRE(plugin.answer() == kHostsAnswer);
    GR_REQUIRE(dlopen("no_such_library.so", RTLD_NOW) == nullptr);
    GR_REQUIRE(std::strstr(dlerror(), "no_such_library.so") != nullptr);
}

// Such a plugin sees libc's own dlopen first.
void plugins_open_plugins() {
    const Plugin plugin = opened(opener_open(kPlugin, kDeep));
    const std::string path = std::string(reinterpret_cast<link_map *>(plugin.handle)->l_name);
    const Plugin second = opened(plugin.open((path.substr(0, path.rfind('/') + 1) + kSecondPlugin).c_str(), kDeep));
    cross(second);
    host_frees(second, 11, 0);
}

void by_dlmopen() { cross(opened(opener_open_in(LM_ID_BASE, kPlugin, kDeep))); }

// It brings a libc of its own, where blocks stay.
void another_namespace_is_left_alone() {
    const Plugin plugin = opened(opener_open_in(LM_ID_NEWLM, kPlugin, RTLD_NOW | RTLD_DEEPBIND));
    void *const block = plugin.allocate(0, 100);
    GR_REQUIRE(block != nullptr && gr_owns(block) == 0);
    plugin.release(plugin.resize(block, 1000));
    cross(opened(opener_open(kPlugin, kDeep)));
    void *const later = plugin.allocate(0, 100);
    GR_REQUIRE(gr_owns(later) == 0);
    plugin.release(later);
}

void threads_open_at_once() {
    constexpr int kThreads = 4;
    std::atomic<int> waiting{kThreads};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&waiting, i] {
            --waiting;
            while (waiting != 0) std::this_thread::yield();
            cross(opened(opener_open(i % 2 == 0 ? kPlugin : kSecondPlugin, kDeep)));
        });
    }
    for (std::thread &thread : threads) thread.join();
}

void in_child(const char *name, void (*scene)()) {
    const pid_t child = fork();
    GR_REQUIRE(child >= 0);
    if (child == 0) {
        scene();
        gr::black_box::require_sound_heap();
        _exit(0);
    }
    int status = -1;
    GR_REQUIRE(waitpid(child, &status, 0) == child);
    if (status != 0) gr::black_box::leave(1, "%s: wait status %d\n", name, status);
}

struct Range {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
};

// Where libc is mapped.
int find_libc(dl_phdr_info *info, std::size_t, void *out) {
    if (std::strstr(info->dlpi_name, "libc.so.6") == nullptr) return 0;
    Range *const range = static_cast<Range *>(out);
    range->start = info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        if (part.p_type == PT_LOAD) range->end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
    }
    return 1;
}

constexpr sock_filter load(std::uint32_t offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}; }
constexpr sock_filter answer(std::uint32_t value) { return {BPF_RET | BPF_K, 0, 0, value}; }

// From here on the kernel changes no protection there. Addresses come in halves; the upper one is compared as one.
void refuse_changes_of_libc() {
    Range libc;
    GR_REQUIRE(dl_iterate_phdr(find_libc, &libc) == 1);
    const auto low = [](std::uintptr_t address) { return static_cast<std::uint32_t>(address); };
    if (libc.start >> 32 != libc.end >> 32) _exit(gr::black_box::kSkipped);
    constexpr std::uint32_t kAddress = offsetof(seccomp_data, args);
    sock_filter filter[] = {
        load(offsetof(seccomp_data, nr)),
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 6, SYS_mprotect},
        load(kAddress + 4),
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 4, static_cast<std::uint32_t>(libc.start >> 32)},
        load(kAddress),
        {BPF_JMP | BPF_JGE | BPF_K, 0, 2, low(libc.start)},
        {BPF_JMP | BPF_JGE | BPF_K, 1, 0, low(libc.end)},
        answer(SECCOMP_RET_ERRNO | EACCES),
        answer(SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {static_cast<unsigned short>(sizeof filter / sizeof filter[0]), filter};
    GR_REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(gr::black_box::kSkipped);
}

}  // namespace

int main(int argc, char **argv) {
    gr::black_box::require_granary();
    GR_REQUIRE(argc == 2);
    const std::string mode = argv[1];
    must_keep_flag = mode == "mend";
    may_keep_flag = must_keep_flag || mode == "emulated";
    GR_REQUIRE(may_keep_flag || mode == "drop" || mode == "refused");
    if (mode == "refused") refuse_changes_of_libc();
    in_child("blocks cross", blocks_cross);
    in_child("only the caller finds it", only_the_caller_finds_it);
    in_child("without the flag nothing changes", without_the_flag_nothing_changes);
    in_child("plugins open plugins", plugins_open_plugins);
    in_child("by dlmopen", by_dlmopen);
    in_child("another namespace is left alone", another_namespace_is_left_alone);
    for (int i = 0; i < 20; ++i) in_child("threads open at once", threads_open_at_once);
    return 0;
}
