// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the program and its libraries as files: in which of them code lies.
// Invariant: takes no memory and no lock, so that it may be asked while another thread loads a library.
// Must not know: why it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

class LoadedObject {
  public:
    constexpr LoadedObject() = default;
    // None, which holds nothing: no file's.
    explicit LoadedObject(const void *code);

    bool contains(const void *code) const { return reinterpret_cast<std::uintptr_t>(code) - begin_ < bytes_; }
    // The end of its path if that is long; ended by a zero.
    void copy_path(char *path, std::size_t size) const;

  private:
    std::uintptr_t begin_ = 0;
    std::uintptr_t bytes_ = 0;
    const char *name_ = nullptr;
};

// Of the C library.
LoadedObject libc_object();

// That a symbol was not found is not told to who asks the loader next what went wrong.
void forget_loader_error();

}  // namespace gr::platform
