// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program whose resident memory is known by kind: own mappings, blocks, a thread's stack, shared memory, a file.
// Invariant: all of it is there when the program ends. With "fork", a child has it, too, and maps nothing of its own. With
//    "wait" and a file's name, the thread has blocks, too; the program makes that file and waits for a byte from its
//    standard input before it ends. With "compute" behind it, the thread computes meanwhile; else it waits in the kernel.
// Must not know: who looks.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

[[gnu::noinline]] char *map_own(std::size_t bytes, std::size_t touched) {
    void *const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) abort();
    std::memset(p, 1, touched);
    return static_cast<char *>(p);
}

pthread_barrier_t barrier;
pid_t thread_id;
int silent[2];  // a pipe into which nobody writes
bool computes = false;

void take_blocks(int count) {
    for (int i = 0; i < count; ++i) std::memset(malloc(10000), 1, 10000);
}

void *fill_stack(void *waits) {
    volatile char bytes[2 * kMebibyte];
    for (std::size_t i = 0; i < sizeof bytes; i += 1024) bytes[i] = 1;
    if (waits != nullptr) take_blocks(100);
    thread_id = gettid();
    pthread_barrier_wait(&barrier);
    while (computes) bytes[0] = static_cast<char>(bytes[0] + 1);
    char byte = 0;
    return read(silent[0], &byte, 1) < 0 ? nullptr : waits;
}

// Returns when the thread waits in the kernel for the pipe, as the kernel tells it.
void wait_for_thread() {
    const std::string path = "/proc/self/task/" + std::to_string(thread_id) + "/syscall";
    for (std::string call; call != std::to_string(SYS_read);) {
        std::ifstream(path) >> call;
        if (call.empty()) abort();
    }
}

}  // namespace

int main(int count, char **words) {
    char *const own = map_own(24 * kMebibyte, 12 * kMebibyte);
    // The kernel joins it with the former, whose first part is gone.
    char *const other = map_own(2 * kMebibyte, 2 * kMebibyte);
    if (munmap(own, kMebibyte) != 0 || madvise(other, kMebibyte, MADV_DONTNEED) != 0) abort();
    take_blocks(500);
    std::memset(malloc(3 * kMebibyte), 1, 3 * kMebibyte);  // from the kernel
    void *const shared = mmap(nullptr, 2 * kMebibyte, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    std::memset(shared, 1, 2 * kMebibyte);
    const int file = open(words[0], O_RDONLY | O_CLOEXEC);
    pthread_t thread;
    const bool waits = count > 2 && std::strcmp(words[1], "wait") == 0;
    computes = count > 3 && std::strcmp(words[3], "compute") == 0;
    pthread_barrier_init(&barrier, nullptr, 2);
    if (file < 0 || pipe2(silent, O_CLOEXEC) != 0 ||
        pthread_create(&thread, nullptr, fill_stack, waits ? words[1] : nullptr) != 0)
        abort();
    pthread_barrier_wait(&barrier);
    if (count > 1 && std::strcmp(words[1], "fork") == 0) {
        const pid_t child = fork();
        if (child == 0) {
            free(malloc(1));
            exit(0);
        }
        if (child < 0 || waitpid(child, nullptr, 0) != child) abort();
    }
    if (waits) {
        if (!computes) wait_for_thread();
        const int begun = open(words[2], O_CREAT | O_WRONLY | O_CLOEXEC, S_IRUSR);
        char byte = 0;
        if (begun < 0 || close(begun) != 0 || read(0, &byte, 1) != 1) abort();
    }
    return 0;
}
