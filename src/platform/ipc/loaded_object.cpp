// SPDX-License-Identifier: Apache-2.0 OR MIT
// Uses the loader's table for exceptions (_dl_find_object).
#include "platform/ipc/loaded_object.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>

#include <cstring>

#include "platform/loader.hpp"
#include "platform/syscall.hpp"

namespace gr::platform {

LoadedObject::LoadedObject(const void *code) {
    dl_find_object object{};
    if (_dl_find_object(const_cast<void *>(code), &object) != 0) return;
    begin_ = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
    bytes_ = reinterpret_cast<std::uintptr_t>(object.dlfo_map_end) - begin_;
    name_ = object.dlfo_link_map->l_name;
}

void LoadedObject::copy_path(char *path, std::size_t size) const {
    char program[1024];
    const char *name = name_ == nullptr ? "" : name_;
    std::size_t length = std::strlen(name);
    if (length == 0 && name_ != nullptr) {  // the loader has no name for the program itself
        const long read = system_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", &program[0], sizeof program);
        length = read > 0 ? static_cast<std::size_t>(read) : 0;
        name = &program[0];
    }
    const std::size_t cut = length < size ? 0 : length - size + 1;
    std::memcpy(path, name + cut, length - cut);
    path[length - cut] = '\0';
}

LoadedObject libc_object() { return LoadedObject(libc_symbol("exit")); }

void forget_loader_error() { dlerror(); }  // NOLINT(concurrency-mt-unsafe): of the calling thread

}  // namespace gr::platform
