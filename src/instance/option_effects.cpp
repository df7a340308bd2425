// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "instance/option_effects.hpp"

#include <cerrno>

#include "instance/background.hpp"
#include "instance/heap_tables.hpp"
#include "instance/instances.hpp"
#include "instance/option_rows.hpp"
#include "platform/cgroup.hpp"
#include "platform/reentry.hpp"

namespace gr {

constinit platform::KeptStderr statistics_output;

int change_value_only(const Options &) { return 0; }

int change_statistics(const Options &wanted) { return wanted.stats == 0 || statistics_output.keep() ? 0 : EBADF; }

int change_retention(const Options &wanted) {
    const bool is_less = wanted.retain < instance.options().retain || wanted.reuse < instance.options().reuse;
    instances.for_each([&](Instance &i) {
        i.change_retention(wanted.retain, wanted.reuse);
        if (is_less) i.return_free_pages();
    });
    publish_options(wanted);
    return 0;
}

// A collector needs all blocks in the region, so none may be mapped directly.
int change_direct(const Options &) { return instance.may_have_direct() ? 0 : EPERM; }

int change_magazines(const Options &wanted) {
    instances.for_each([&](Instance &i) { i.change_magazine_budget(wanted.magazine); });
    publish_options(wanted);
    return 0;
}

int change_limits(const Options &wanted) {
    return instance.change_limits(wanted.soft_limit, wanted.hard_limit) ? 0 : EINVAL;
}

int change_background(const Options &wanted) {
    if (wanted.background != 0) return background.switch_on() ? 0 : EPERM;
    background.switch_off();
    return 0;
}

int set_option(const char *name, const char *value) {
    const OptionRow *const row = name == nullptr ? nullptr : find_option(name);
    if (row == nullptr) return ENOENT;
    if (row->effect == nullptr) return EPERM;
    if (!instance.ensure_started() || platform::Reentry::is_interrupted()) return EBUSY;
    OptionNumbers numbers;
    const auto find = [] { return platform::cgroup_memory_limit(); };
    if (value == nullptr || !row->parse(value, find, &numbers)) return EINVAL;
    int error = EBUSY;
    instances.hold([&] {
        Options wanted = instance.options();
        row->for_each_number(numbers, [&](std::size_t Options::*where, std::size_t number) { wanted.*where = number; });
        error = row->effect(wanted);
        if (error != 0) return;
        instances.for_each([&](Instance &i) {
            row->for_each_number(numbers,
                                 [&](std::size_t Options::*where, std::size_t number) { i.set_option(where, number); });
        });
        set_origin(*row, OptionOrigin::run_time);
    });
    return error;
}

}  // namespace gr
