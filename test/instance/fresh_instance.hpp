// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an instance of its own for a test, with options from the environment that the test names.
// Invariant: the last one that starts is the one that the sequences serve; tests use one at a time.
// Must not know: what is tested.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <initializer_list>
#include <memory>
#include <utility>

#include "fake/memory.hpp"
#include "instance/instance.hpp"
#include "platform/memory.hpp"

namespace gr::fake {

using Settings = std::initializer_list<std::pair<const char *, const char *>>;

// The instance is not started: the environment is read on first use, and reset when this goes.
class FreshInstance {
  public:
    explicit FreshInstance(Settings settings = {}) {
        reset();
        platform::gr_sequence_state = {};
        setenv("GRANARY_REGION", "256M", 1);
        for (const auto &[name, value] : settings) setenv(name, value, 1);
        static_cast<void>(instance_->ensure_started());
        for (const auto &[name, value] : settings) unsetenv(name);
        unsetenv("GRANARY_REGION");
    }
    FreshInstance(const FreshInstance &) = delete;
    FreshInstance &operator=(const FreshInstance &) = delete;
    ~FreshInstance() {
        if (const char *const fault = instance_->first_fault()) ADD_FAILURE() << fault;
        platform::gr_sequence_state = {};
        // What an instance maps stays until the process ends; the next instance could grow into it.
        const Region &region = instance_->region();
        if (region.base() != nullptr) platform::unmap(region.base(), region.range_bytes());
    }
    Instance *operator->() { return instance_.get(); }
    Instance &operator*() { return *instance_; }

  private:
    std::unique_ptr<Instance> instance_ = std::make_unique<Instance>();
};

}  // namespace gr::fake
