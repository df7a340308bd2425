// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: names of files and folders that the loader's variables can hold, although the real paths have separators in
//    them.
// Invariant: the name leads to the given file or folder, now and later: through a symbolic link in a folder that only
//    this user may enter or change. A path without separators stays as it is, and nothing is created for the path.
// Must not know: which libraries there are, and which program is started.
#pragma once

#include <string>

namespace gr::tool {

// For LD_PRELOAD, which a blank, a colon or a $ would split or change. The link names the file's folder, so that $ORIGIN
// in the library leads where it leads without the link. Throws Failure (kToolFailure).
[[nodiscard]] std::string preload_path(const std::string &file);

// For LD_LIBRARY_PATH. Throws Failure (kToolFailure).
[[nodiscard]] std::string library_path(const std::string &folder);

}  // namespace gr::tool
