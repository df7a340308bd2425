// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "command_line/naming_options.hpp"

namespace gr::tool {

void add_naming(CLI::App &options, Naming *naming) {
    add_wrappers(options, &naming->wrappers);
    options.add_flag("--lines", naming->lines, "Tell a function's calls apart by line");
    options.add_flag("--addresses", naming->addresses, "Tell a file's functions without names apart by address");
    add_whole_names(options, &naming->whole_names);
}

void add_wrappers(CLI::App &options, std::vector<std::string> *wrappers) {
    options
        .add_option(
            "--wrapper", *wrappers,
            "Functions or files, as a pattern of the shell, that only allocate for their callers (xmalloc, 'g_*', "
            "'libgfx.so*'): their callers count; may be given more than once")
        ->type_name("PATTERN")
        ->allow_extra_args(false);
}

void add_whole_names(CLI::App &options, bool *whole_names) {
    options.add_flag("--whole-names", *whole_names, "Show the arguments of templates in names, and do not cut names");
}

}  // namespace gr::tool
