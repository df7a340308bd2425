// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a few threads that carry out one task at a time for whoever waits for it.
// Invariant: at most one thread of the pool and its caller run at any time; the pool itself never allocates.
// Must not know: what the tasks are.
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace gr::fuzz {

class Worker {
  public:
    using Task = void (*)(void *);

    Worker() {
        sem_init(&request_, 0, 0);
        sem_init(&done_, 0, 0);
    }
    ~Worker() {
        stop();
        sem_destroy(&request_);
        sem_destroy(&done_);
    }
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    void start() {
        const int error = pthread_create(&thread_, nullptr, &Worker::serve, this);
        if (error != 0) {
            std::fprintf(stderr, "fuzz: cannot start a thread (error %d); raise the limit on processes\n", error);
            std::abort();
        }
        running_ = true;
    }

    void run(Task task, void *argument) {
        task_ = task;
        argument_ = argument;
        sem_post(&request_);
        wait(done_);
    }

    void stop() {
        if (!running_) return;
        task_ = nullptr;
        sem_post(&request_);
        pthread_join(thread_, nullptr);
        running_ = false;
    }

  private:
    static void wait(sem_t &semaphore) {
        while (sem_wait(&semaphore) != 0 && errno == EINTR) {
        }
    }

    static void *serve(void *self) {
        Worker &worker = *static_cast<Worker *>(self);
        for (;;) {
            wait(worker.request_);
            if (worker.task_ == nullptr) return nullptr;
            worker.task_(worker.argument_);
            sem_post(&worker.done_);
        }
    }

    pthread_t thread_{};
    sem_t request_{};
    sem_t done_{};
    Task task_ = nullptr;
    void *argument_ = nullptr;
    bool running_ = false;
};

// Thread 0 is the caller's own.
class ThreadPool {
  public:
    static constexpr std::size_t kThreads = 4;

    ThreadPool() {
        for (Worker &worker : workers_) worker.start();
    }

    void run(std::size_t thread, Worker::Task task, void *argument) {
        if (thread == 0) {
            task(argument);
        } else {
            workers_[thread - 1].run(task, argument);
        }
    }

    // Ends the thread and starts another in its place. The caller's own cannot end.
    void replace(std::size_t thread) {
        if (thread == 0) return;
        workers_[thread - 1].stop();
        workers_[thread - 1].start();
    }

  private:
    std::array<Worker, kThreads - 1> workers_;
};

}  // namespace gr::fuzz
