// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that runs before its recorder does: as many threads as its first word says take and free blocks and
//    check what they hold. Once there is a file "go" in the folder of its second word, each of them takes and frees
//    as many blocks of one size as its third word says, with a mark before and behind them. Then there is a file "done".
//    Once there is a file "stop", the program ends. A fourth word is a library that the program opens when it sees "go",
//    and whose function `opened` takes and frees such blocks, too; "fork" makes a child that does.
// Invariant: it prints "fine" where no block was damaged.
// Must not know: what records it.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "granary/mark.h"

namespace {

constexpr std::size_t kCounted = 4321;  // no other block has this size
constexpr std::size_t kHeld = 64;

std::string folder;
long counted = 0;
std::atomic<bool> goes{false};
std::atomic<bool> stops{false};
std::atomic<bool> is_damaged{false};
std::atomic<long> done{0};

bool has(const char *name) { return access((folder + "/" + name).c_str(), F_OK) == 0; }
void make(const char *name) {
    const int file = open((folder + "/" + name).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, S_IRUSR);
    if (file < 0) std::abort();
    close(file);
}

void count() {
    for (long i = 0; i < counted; ++i) {
        void *volatile p = std::malloc(kCounted);
        std::free(p);
    }
}

struct Block {
    unsigned char *bytes = nullptr;
    std::size_t size = 0;
};

void free_checked(Block *block) {
    for (std::size_t i = 0; i < block->size; ++i) {
        if (block->bytes[i] != static_cast<unsigned char>(block->size)) is_damaged = true;
    }
    std::free(block->bytes);
    *block = {};
}

void *churn(void *seed) {
    auto number = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(seed));
    std::vector<Block> held(kHeld);
    bool has_counted = false;
    while (!stops) {
        for (int i = 0; i < 10; ++i) {
            number = number * 1103515245 + 12345;
            Block &block = held[number / 65536 % kHeld];
            if (block.bytes != nullptr) free_checked(&block);
            block.size = number / 65536 % 3000 + 1;
            block.bytes = static_cast<unsigned char *>(std::malloc(block.size));
            std::memset(block.bytes, static_cast<int>(block.size), block.size);
        }
        if (goes && !has_counted) {
            gr_mark("begin");
            count();
            gr_mark("end");
            has_counted = true;
            ++done;
        }
        const timespec moment{0, 1000000};
        nanosleep(&moment, nullptr);
    }
    for (Block &block : held) free_checked(&block);
    return nullptr;
}

void do_more(const std::string &word) {
    if (word == "fork") {
        const pid_t child = fork();
        if (child == 0) {
            count();
            _exit(0);
        }
        waitpid(child, nullptr, 0);
        return;
    }
    void *const library = dlopen(word.c_str(), RTLD_NOW);
    auto *const opened = library == nullptr ? nullptr : reinterpret_cast<void (*)(long)>(dlsym(library, "opened"));
    if (opened == nullptr) std::abort();
    opened(counted);
}

void wait_for(const char *name) {
    const timespec moment{0, 1000000};
    while (!has(name)) nanosleep(&moment, nullptr);
}

}  // namespace

int main(int words, char **word) {
    if (words < 4) return 2;
    const long threads = std::atol(word[1]);
    folder = word[2];
    counted = std::atol(word[3]);
    std::vector<pthread_t> started(static_cast<std::size_t>(threads));
    for (std::size_t i = 0; i < started.size(); ++i) {
        if (pthread_create(&started[i], nullptr, churn, reinterpret_cast<void *>(i)) != 0) return 3;
    }
    make("begun");
    wait_for("go");
    goes = true;
    if (words > 4) do_more(word[4]);
    const timespec moment{0, 1000000};
    while (done != threads) nanosleep(&moment, nullptr);
    make("done");
    wait_for("stop");
    stops = true;
    for (const pthread_t thread : started) pthread_join(thread, nullptr);
    if (is_damaged) return 4;
    return write(1, "fine\n", 5) == 5 ? 0 : 5;
}
