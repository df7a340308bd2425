// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/trace/symbols_chunk.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "reading/trace/check.hpp"

namespace gr::trace {

namespace {

constexpr int kSymbolLevel = 3;  // of zstd
constexpr std::size_t kPlacesOfChunk = 1U << 14;
constexpr std::size_t kTextOfChunk = kMostSymbolText * kMostCallsOfPlace;
constexpr std::uint64_t kMostRowBytes = 30;  // three numbers

// A place's texts and a few more may exceed kTextOfChunk.
static_assert(4 * kTextOfChunk < kMostTextOfChunk, "a chunk that is written can be read");

template <class T>
void append_object(Bytes *bytes, const T &object) {
    const auto *const begin = reinterpret_cast<const std::uint8_t *>(&object);
    bytes->insert(bytes->end(), begin, begin + sizeof object);
}

// The texts of a chunk, each once.
class Texts {
  public:
    std::uint32_t number_of(std::string_view text) {
        text = text.substr(0, std::min(text.find('\0'), kMostSymbolText));
        if (text.empty()) return 0;
        const auto [at, is_new] = known_.try_emplace(std::string(text), static_cast<std::uint32_t>(known_.size()) + 1);
        if (is_new) {
            bytes_.insert(bytes_.end(), text.begin(), text.end());
            bytes_.push_back(0);
        }
        return at->second;
    }
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(known_.size()); }
    [[nodiscard]] ByteView bytes() const { return bytes_; }

  private:
    std::unordered_map<std::string, std::uint32_t> known_;
    Bytes bytes_;
};

// One chunk of places.
class SymbolsPacker {
  public:
    void add(const NamedPlace &place) {
        const std::pair key{texts_.number_of(place.path), texts_.number_of(place.build_id)};
        const auto same = std::ranges::find(file_keys_, key);
        const auto file = static_cast<std::uint64_t>(same - file_keys_.begin());
        if (same == file_keys_.end()) {
            file_keys_.push_back(key);
            files_.put(key.first);
            files_.put(key.second);
        }
        const std::size_t calls = std::min<std::size_t>(place.calls.size(), kMostCallsOfPlace);
        places_.put(file);
        places_.put_difference(place.offset - std::exchange(offset_, place.offset));
        places_.put(calls);
        for (const NamedCall &call : std::span(place.calls).first(calls)) {
            calls_.put(texts_.number_of(call.function));
            calls_.put(texts_.number_of(call.file));
            calls_.put(call.line);
        }
        summary_.places += 1;
        summary_.calls += static_cast<std::uint32_t>(calls);
    }
    void append_to(Bytes *all) {
        summary_.texts = texts_.count();
        summary_.files = static_cast<std::uint32_t>(file_keys_.size());
        ColumnPacker packer(kSymbolLevel);
        packer.add(number_of(SymbolColumn::texts), texts_.bytes());
        packer.add(number_of(SymbolColumn::files), files_.bytes());
        packer.add(number_of(SymbolColumn::places), places_.bytes());
        packer.add(number_of(SymbolColumn::calls), calls_.bytes());
        const ByteView summary(reinterpret_cast<const std::uint8_t *>(&summary_), sizeof summary_);
        const ByteView body = packer.body();
        ChunkHead head{number_of(ChunkKind::symbols), sizeof summary_, static_cast<std::uint32_t>(body.size()),
                       check_of(0, body), 0};
        const ByteView checked(reinterpret_cast<const std::uint8_t *>(&head), sizeof head - sizeof head.head_check);
        head.head_check = check_of(check_of(0, checked), summary);
        append_object(all, head);
        append_object(all, summary_);
        all->insert(all->end(), body.begin(), body.end());
    }
    [[nodiscard]] bool is_full() const {
        return summary_.places >= kPlacesOfChunk || summary_.calls >= kRowsOfAnyBody - kMostCallsOfPlace ||
               texts_.bytes().size() >= kTextOfChunk;
    }
    [[nodiscard]] bool is_empty() const { return summary_.places == 0; }
    [[nodiscard]] std::size_t text_bytes() const { return texts_.bytes().size(); }

  private:
    SymbolsSummary summary_;
    Texts texts_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> file_keys_;
    NumberWriter files_;
    NumberWriter places_;
    NumberWriter calls_;
    std::uint64_t offset_ = 0;
};

// What a file may have of all, so that no small file becomes large in memory.
struct Sums {
    std::uint64_t texts = 0;
    std::uint64_t text_bytes = 0;
    std::uint64_t places = 0;
    std::uint64_t calls = 0;
    std::uint64_t bytes_of_calls = 0;  // of the texts that calls refer to, each time

    [[nodiscard]] bool are_possible() const {
        return texts <= kMostSymbolTexts && text_bytes <= kMostSymbolBytes && places <= kMostNamedPlaces &&
               calls <= kMostNamedCalls && bytes_of_calls <= kMostBytesOfNamedCalls;
    }
    // As if no text were there twice.
    void add(const NamedPlace &place) {
        places += 1;
        calls += place.calls.size();
        texts += 2 + 2 * place.calls.size();
        for (const NamedCall &call : place.calls) bytes_of_calls += call.function.size() + call.file.size();
    }
};

// Reads one chunk to the end of what was read before it.
class SymbolsReader {
  public:
    SymbolsReader(ByteView summary, ByteView body, Symbols *all)
        : all_(*all), first_text_(all_.texts.size() - 1), first_file_(all_.files.size()) {
        if (summary.size() < sizeof told_) throw Damage("a summary is too short");
        std::memcpy(&told_, summary.data(), sizeof told_);
        for (const std::uint32_t rows : {told_.texts, told_.files, told_.places, told_.calls}) {
            if (rows > kRowsOfAnyBody) throw Damage("a table of names has too many rows");
        }
        constexpr std::uint64_t kMostColumn = std::max<std::uint64_t>(kMostTextOfChunk, kRowsOfAnyBody * kMostRowBytes);
        columns_ = ColumnUnpacker().unpack(body, number_of(SymbolColumn::calls), kMostColumn);
    }
    void read() {
        read_texts();
        read_files();
        read_places();
        read_calls();
    }

  private:
    [[nodiscard]] const Bytes &column(SymbolColumn which) const { return columns_[number_of(which)]; }
    void read_texts() {
        const Bytes &bytes = column(SymbolColumn::texts);
        const std::string_view texts(reinterpret_cast<const char *>(bytes.data()), bytes.size());
        for (std::size_t at = 0; at < texts.size();) {
            const std::size_t end = texts.find('\0', at);
            if (end == std::string_view::npos || end - at > kMostSymbolText) throw Damage("a name is too long");
            all_.texts.emplace_back(texts.substr(at, end - at));
            all_.text_bytes += end - at;
            at = end + 1;
        }
        if (all_.texts.size() - 1 != first_text_ + told_.texts) throw Damage("names are missing");
    }
    std::uint32_t take_text(NumberReader &numbers) const {
        const std::uint64_t number = numbers.take();
        if (number > told_.texts) throw Damage("a name is not there");
        return static_cast<std::uint32_t>(number == 0 ? 0 : first_text_ + number);
    }
    void read_files() {
        NumberReader numbers(column(SymbolColumn::files));
        for (std::uint32_t i = 0; i < told_.files; ++i) {
            const std::uint32_t path = take_text(numbers);
            all_.files.push_back({path, take_text(numbers)});
        }
    }
    void read_places() {
        NumberReader numbers(column(SymbolColumn::places));
        std::uint64_t offset = 0;
        std::uint64_t call = all_.calls.size();
        for (std::uint32_t i = 0; i < told_.places; ++i) {
            const std::uint64_t file = numbers.take();
            if (file >= told_.files) throw Damage("a place lies in a file that is not there");
            offset += numbers.take_difference();
            const std::uint64_t calls = numbers.take();
            if (calls == 0 || calls > kMostCallsOfPlace) throw Damage("a place has no calls, or too many");
            all_.places.push_back({static_cast<std::uint32_t>(first_file_ + file), offset,
                                   static_cast<std::uint32_t>(call), static_cast<std::uint32_t>(calls)});
            call += calls;
        }
        if (call != all_.calls.size() + told_.calls) throw Damage("a table of names contradicts its summary");
    }
    void read_calls() {
        NumberReader numbers(column(SymbolColumn::calls));
        for (std::uint32_t i = 0; i < told_.calls; ++i) {
            const std::uint32_t function = take_text(numbers);
            const std::uint32_t file = take_text(numbers);
            const std::uint64_t line = numbers.take();
            if (line > kMostLine) throw Damage("a line of a source is not possible");
            all_.calls.push_back({function, file, static_cast<std::uint32_t>(line)});
            all_.bytes_of_calls += all_.texts[function].size() + all_.texts[file].size();
        }
    }

    Symbols &all_;
    SymbolsSummary told_;
    std::vector<Bytes> columns_;
    std::size_t first_text_;
    std::size_t first_file_;
};

}  // namespace

// A place never refers to calls that were not read.
void add_symbols(ByteView summary, ByteView body, Symbols *all) {
    const std::array before{all->texts.size(), all->files.size(), all->places.size(), all->calls.size()};
    try {
        SymbolsReader(summary, body, all).read();
        const Sums sums{all->texts.size() - 1, all->text_bytes, all->places.size(), all->calls.size(),
                        all->bytes_of_calls};
        if (!sums.are_possible()) throw Damage("there are more names than a trace may have");
    } catch (const Damage &) {
        all->texts.resize(before[0]);
        all->files.resize(before[1]);
        all->places.resize(before[2]);
        all->calls.resize(before[3]);
        throw;
    }
}

Bytes symbol_chunks(std::span<const NamedPlace> places) {
    Bytes all;
    SymbolsPacker packer;
    Sums sums;
    for (const NamedPlace &place : places) {
        sums.add(place);
        if (!sums.are_possible()) break;
        packer.add(place);
        if (!packer.is_full()) continue;
        sums.text_bytes += packer.text_bytes();
        std::exchange(packer, SymbolsPacker()).append_to(&all);
    }
    if (!packer.is_empty()) packer.append_to(&all);
    return all;
}

}  // namespace gr::trace
