// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds the file, the program or a library, in which code lies.
// Invariant: takes no memory and no lock, so that it may be used while another thread loads a library.
// Must not know: why the caller asks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

class LoadedObject {
  public:
    constexpr LoadedObject() = default;
    // If the code lies in no file, the object contains nothing.
    explicit LoadedObject(const void *code);

    bool contains(const void *code) const { return reinterpret_cast<std::uintptr_t>(code) - begin_ < bytes_; }
    // Copies the path, or its end if it is too long; ended by a zero.
    void copy_path(char *path, std::size_t size) const;

  private:
    std::uintptr_t begin_ = 0;
    std::uintptr_t bytes_ = 0;
    const char *name_ = nullptr;
};

// The C library's object.
LoadedObject libc_object();

// Clears the calling thread's loader error. Else the program's next dlerror() would report a symbol that this library
// did not find.
void forget_loader_error();

}  // namespace gr::platform
