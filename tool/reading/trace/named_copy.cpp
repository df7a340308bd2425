// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/trace/named_copy.hpp"

#include <cstring>
#include <string_view>

#include "base/whole_file.hpp"
#include "reading/trace/symbols_chunk.hpp"

namespace gr::trace {

namespace {

std::string_view as_text(ByteView bytes) { return {reinterpret_cast<const char *>(bytes.data()), bytes.size()}; }

}  // namespace

// Names stand before the end, which is the last chunk.
void write_named(const Trace &trace, std::span<const NamedPlace> places, const std::string &path) {
    const Bytes names = symbol_chunks(places);
    tool::WholeFile file(path, tool::FileAccess::owner_only);
    const ByteView all = trace.file().first(trace.readable_bytes());
    file.write(as_text(all.first(sizeof(FileHead))));
    bool has_names = false;
    for (std::size_t at = sizeof(FileHead); at < all.size();) {
        ChunkHead head;
        std::memcpy(&head, all.data() + at, sizeof head);
        const std::size_t bytes = sizeof head + head.summary_bytes + head.body_bytes;
        const ChunkKind kind{head.kind};
        if (kind == ChunkKind::end && !has_names) {
            file.write(as_text(names));
            has_names = true;
        }
        if (kind != ChunkKind::symbols) file.write(as_text(all.subspan(at, bytes)));
        at += bytes;
    }
    if (!has_names) file.write(as_text(names));
    file.finish();
}

}  // namespace gr::trace
