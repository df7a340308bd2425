// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a trace file in its parts: chunks, columns, numbers and JSON, which a test changes one by one.
// Invariant: whatever was changed, all checksums are right, so that a reader comes to what is behind them.
// Must not know: what a reader makes of it.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "reading/trace/check.hpp"
#include "reading/trace/chunk.hpp"
#include "reading/trace/columns.hpp"

namespace gr::trace {

struct CraftedChunk {
    ChunkKind kind{};
    Bytes summary;
    std::string json;                       // of a chunk of JSON
    std::map<std::uint8_t, Bytes> columns;  // of another, by number
    std::uint32_t raw_claim = 0;            // added to what each column says that it has
};

class CraftedTrace {
  public:
    explicit CraftedTrace(ByteView file) {
        for (std::size_t at = sizeof(FileHead); at < file.size();) {
            ChunkHead head;
            std::memcpy(&head, file.data() + at, sizeof head);
            const ByteView summary = file.subspan(at + sizeof head, head.summary_bytes);
            const ByteView body = file.subspan(at + sizeof head + head.summary_bytes, head.body_bytes);
            CraftedChunk chunk{ChunkKind{head.kind}, {summary.begin(), summary.end()}, {}, {}};
            if (summary.empty()) {
                chunk.json.assign(body.begin(), body.end());
            } else {
                take_columns(body, &chunk);
            }
            chunks.push_back(std::move(chunk));
            at += sizeof head + head.summary_bytes + head.body_bytes;
        }
    }

    [[nodiscard]] Bytes bytes() const {
        Bytes file;
        append(&file, FileHead{});
        for (const CraftedChunk &chunk : chunks) {
            const Bytes body = body_of(chunk);
            ChunkHead head{number_of(chunk.kind), static_cast<std::uint32_t>(chunk.summary.size()),
                           static_cast<std::uint32_t>(body.size()), check_of(0, body), 0};
            constexpr std::size_t kChecked = sizeof head - sizeof head.head_check;
            head.head_check =
                check_of(check_of(0, {reinterpret_cast<const std::uint8_t *>(&head), kChecked}), chunk.summary);
            append(&file, head);
            file.insert(file.end(), chunk.summary.begin(), chunk.summary.end());
            file.insert(file.end(), body.begin(), body.end());
        }
        return file;
    }

    std::vector<CraftedChunk> chunks;

  private:
    template <class T>
    static void append(Bytes *bytes, const T &object) {
        const auto *const begin = reinterpret_cast<const std::uint8_t *>(&object);
        bytes->insert(bytes->end(), begin, begin + sizeof object);
    }
    static void take_columns(ByteView body, CraftedChunk *chunk) {
        while (!body.empty()) {
            ColumnHead head;
            std::memcpy(&head, body.data(), sizeof head);
            Bytes raw(head.raw_bytes);
            ZSTD_decompress(raw.data(), raw.size(), body.data() + sizeof head, head.bytes);
            chunk->columns.emplace(head.column, std::move(raw));
            body = body.subspan(sizeof head + head.bytes);
        }
    }
    static Bytes body_of(const CraftedChunk &chunk) {
        Bytes body(chunk.json.begin(), chunk.json.end());
        for (const auto &[number, raw] : chunk.columns) {
            Bytes packed(ZSTD_compressBound(raw.size()));
            packed.resize(ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), 1));
            append(&body, ColumnHead{number, kZstd, 0, static_cast<std::uint32_t>(packed.size()),
                                     static_cast<std::uint32_t>(raw.size()) + chunk.raw_claim});
            body.insert(body.end(), packed.begin(), packed.end());
        }
        return body;
    }
};

// Changes one thing at a time, most of them to something that a careless reader would stumble over.
class TraceSpoiler {
  public:
    explicit TraceSpoiler(std::uint64_t seed) : random_(seed) {}

    void spoil(CraftedTrace *trace) {
        for (std::uint64_t times = 1 + below(3); times != 0; --times) {
            const std::size_t place = below(trace->chunks.size());
            CraftedChunk &chunk = trace->chunks[place];
            const std::uint64_t what = below(16);
            if (what == 0) {
                const CraftedChunk copy = chunk;
                trace->chunks.insert(trace->chunks.begin() + static_cast<std::ptrdiff_t>(below(trace->chunks.size())),
                                     copy);
            } else if (what == 1 && trace->chunks.size() > 2) {
                trace->chunks.erase(trace->chunks.begin() + static_cast<std::ptrdiff_t>(place));
            } else if (what == 2) {
                std::swap(chunk, trace->chunks[below(trace->chunks.size())]);
            } else if (what == 3) {
                chunk.raw_claim = static_cast<std::uint32_t>(odd_number());
            } else if (chunk.summary.empty()) {
                spoil_json(&chunk.json);
            } else if (what < 8 || chunk.columns.empty()) {
                spoil_summary(&chunk.summary);
            } else {
                spoil_column(&chunk);
            }
        }
    }

  private:
    std::uint64_t below(std::uint64_t end) { return random_() % end; }

    std::uint64_t odd_number() {
        constexpr std::uint64_t kOne = 1;
        switch (below(8)) {
            case 0:
                return 0;
            case 1:
                return ~std::uint64_t{0};
            case 2:
                return kOne << below(64);
            case 3:
                return (kOne << below(64)) - 1;
            case 4:
                return below(300);
            case 5:
                return ~below(300);
            case 6:
                return (kOne << 32) + below(3) - 1;
            default:
                return random_();
        }
    }

    void spoil_summary(Bytes *summary) {
        const std::uint64_t number = odd_number();
        const std::size_t bytes = below(2) == 0 ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
        // Most fields stand at the begin; behind them is the histogram.
        constexpr std::size_t kFields = 72;
        const std::size_t places = std::min(summary->size(), below(8) == 0 ? summary->size() : kFields) / 4;
        const std::size_t at = places == 0 ? 0 : below(places) * 4;
        if (at + bytes <= summary->size()) std::memcpy(summary->data() + at, &number, bytes);
        if (below(20) == 0) summary->resize(below(summary->size() + 8));
    }

    void spoil_column(CraftedChunk *chunk) {
        auto column = chunk->columns.begin();
        std::advance(column, below(chunk->columns.size()));
        if (below(20) == 0) {
            chunk->columns.erase(column);
            return;
        }
        const bool is_bytes = chunk->kind == ChunkKind::events && (column->first == number_of(EventColumn::ops) ||
                                                                   column->first == number_of(EventColumn::alignments));
        if (is_bytes) {
            column->second[below(column->second.size())] = static_cast<std::uint8_t>(random_());
            return;
        }
        std::vector<std::uint64_t> numbers;
        for (NumberReader reader(column->second); !reader.is_at_end();) numbers.push_back(reader.take());
        for (std::uint64_t times = 1 + below(6); times != 0 && !numbers.empty(); --times)
            numbers[below(numbers.size())] = odd_number();
        if (below(20) == 0) numbers.insert(numbers.begin(), numbers.begin(), numbers.end());
        NumberWriter writer;
        for (const std::uint64_t number : numbers) writer.put(number);
        column->second.assign(writer.bytes().begin(), writer.bytes().end());
    }

    void spoil_json(std::string *text) {
        if (below(20) == 0) {
            *text = std::string(1 + below(100000), below(2) == 0 ? '[' : '{');
            return;
        }
        nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
        if (json.is_discarded()) return;
        nlohmann::json *place = &json;
        while (place->is_structured() && !place->empty() && (place == &json || below(4) != 0)) {
            auto at = place->begin();
            std::advance(at, below(place->size()));
            place = &*at;
        }
        *place = odd_value(*place);
        *text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    nlohmann::json odd_value(const nlohmann::json &before) {
        static const std::vector<std::string> kTexts{"",
                                                     "/dev/zero",
                                                     "/proc/self/mem",
                                                     "/",
                                                     "../../x",
                                                     "</script><script>alert(1)</script>",
                                                     "\x1b[2J\x1b]0;x\x07",
                                                     std::string("a\0b", 3),
                                                     "\u202egnp.exe",
                                                     std::string(5000, 'x')};
        if (below(8) == 0) return nlohmann::json::array({before, before});
        if (before.is_string()) return kTexts[below(kTexts.size())];
        if (below(4) == 0) return 1e300;
        if (below(4) == 0) return -1;
        return odd_number();
    }

    std::mt19937_64 random_;
};

}  // namespace gr::trace
