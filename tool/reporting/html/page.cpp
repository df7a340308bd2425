// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/html/page.hpp"

#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "reporting/document/base64.hpp"

// built_page.S
extern "C" const char gr_built_page_begin[];
extern "C" const char gr_built_page_end[];
extern "C" const char gr_built_lab_page_begin[];
extern "C" const char gr_built_lab_page_end[];

namespace gr::tool {

namespace {

std::string_view built_page() {
    return {gr_built_page_begin, static_cast<std::size_t>(gr_built_page_end - gr_built_page_begin)};
}

std::string_view built_lab_page() {
    return {gr_built_lab_page_begin, static_cast<std::size_t>(gr_built_lab_page_end - gr_built_lab_page_begin)};
}

std::vector<std::uint8_t> gzipped(std::string_view text) {
    constexpr int kGzip = 16;  // added to the window's bits: with gzip's head
    constexpr int kMemoryLevel = 8;
    z_stream stream{};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        throw std::runtime_error("zlib cannot begin");
    std::vector<std::uint8_t> packed(deflateBound(&stream, text.size()));
    std::vector<Bytef> input(text.begin(), text.end());
    stream.next_in = input.data();
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = packed.data();
    stream.avail_out = static_cast<uInt>(packed.size());
    const int result = deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    if (result != Z_STREAM_END) throw std::runtime_error("zlib cannot compress the document");
    return packed;
}

std::string with_document(std::string_view built, std::string_view document) {
    constexpr std::string_view kPlace = R"(<script id="document" type="application/octet-stream;base64">)";
    const std::size_t place = built.find(kPlace);
    if (place == std::string_view::npos) throw std::runtime_error("the built page has no place for a document");
    std::string page(built.substr(0, place + kPlace.size()));
    page += base64(gzipped(document));
    page += built.substr(place + kPlace.size());
    return page;
}

}  // namespace

std::string page_to_serve() {
    constexpr std::string_view kPolicy = "connect-src 'none'";
    std::string page(built_page());
    const std::size_t place = page.find(kPolicy);
    if (place == std::string::npos) throw std::runtime_error("the built page has no policy for connections");
    return page.replace(place, kPolicy.size(), "connect-src 'self'");
}

std::string page_of(std::string_view document) { return with_document(built_page(), document); }

std::string lab_page_of(std::string_view document) { return with_document(built_lab_page(), document); }

}  // namespace gr::tool
