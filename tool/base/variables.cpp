// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "base/variables.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace gr::tool {

std::optional<std::string> variable(const char *name) {
    const char *value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
    if (value == nullptr) return std::nullopt;
    return value;
}

void set_variable(const char *name, const std::string &value) {
    if (::setenv(name, value.c_str(), 1) != 0) {  // NOLINT(concurrency-mt-unsafe): one thread
        throw std::system_error(errno, std::generic_category(), std::string("cannot set ") + name);
    }
}

}  // namespace gr::tool
