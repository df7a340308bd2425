// SPDX-License-Identifier: Apache-2.0 OR MIT
// Ids count from 1. The address of a location is one byte before the return address of the call.
#include "profile/pprof.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/text.hpp"
#include "granary/wire/profile_proto.hpp"
#include "platform/memory.hpp"
#include "profile/code_files.hpp"
#include "profile/gzip_file.hpp"

namespace gr {
namespace {

using namespace profile_proto;

// A message that fits into the buffer. Texts do not go through it.
class Message {
  public:
    void number(std::uint32_t field, std::uint64_t value) {
        varint(tag(field, Encoding::varint));
        varint(value);
    }
    void message(std::uint32_t field, const Message &value) {
        head(field, value.size_);
        std::memcpy(&bytes_[size_], &value.bytes_[0], value.size_);
        size_ += value.size_;
    }
    void head(std::uint32_t field, std::size_t size) {
        varint(tag(field, Encoding::bytes));
        varint(size);
    }
    void varint(std::uint64_t value) {
        put_varint(value, [this](std::uint8_t byte) { bytes_[size_++] = byte; });
    }
    const std::uint8_t *bytes() const { return &bytes_[0]; }
    std::size_t size() const { return size_; }

  private:
    static constexpr std::size_t kVarintBytes = 10;

    std::uint8_t bytes_[(kProfileCalls + 16) * kVarintBytes];
    std::size_t size_ = 0;
};

constexpr std::size_t kMostFiles = 4096;

struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
};

struct Room {
    GzipFile::Room file;
    CodeFiles::Room code;
    Range ranges[kMostFiles];
};

class Writer {
  public:
    Writer(const ProfileMoment &moment, Room *room, std::span<std::uintptr_t> addresses, GzipFile &file)
        : moment_(moment), room_(room), addresses_(addresses), file_(file) {}

    void write() {
        number_of("");
        static constexpr const char *kTypes[] = {"alloc_objects", "alloc_space",  "inuse_objects",
                                                 "inuse_space",   "peak_objects", "peak_space"};
        const std::uint64_t count = number_of("count");
        const std::uint64_t bytes = number_of("bytes");
        std::uint64_t shown_first = 0;
        bool counts = true;
        for (const char *const type : kTypes) {
            const std::uint64_t number = number_of(type);
            if (std::strcmp(type, "inuse_space") == 0) shown_first = number;
            add(profile::kSampleType, value_type_of(number, counts ? count : bytes));
            counts = !counts;
        }
        add_files();
        gather_addresses();
        for (std::size_t i = 0; i < addresses_.size(); ++i) add_location(i);
        for (const Site &site : moment_.sites) add_sample(site);
        Message rest;
        rest.number(profile::kTime, moment_.began);
        rest.number(profile::kDuration, moment_.nanoseconds);
        rest.message(profile::kPeriodType, value_type_of(number_of("space"), bytes));
        rest.number(profile::kPeriod, moment_.mean);
        rest.number(profile::kDefaultSampleType, shown_first);
        if (moment_.missed != 0) rest.number(profile::kComment, number_of_missed());
        file_.write(rest.bytes(), rest.size());
    }

  private:
    static bool is_told(const Site &site) { return site.allocated.blocks != 0; }

    void add(std::uint32_t field, const Message &message) {
        Message head;
        head.head(field, message.size());
        file_.write(head.bytes(), head.size());
        file_.write(message.bytes(), message.size());
    }
    // Writes the text and returns its number, so a text must be written before a message uses its number.
    std::uint64_t number_of(const char *text) {
        Message head;
        const std::size_t size = std::strlen(text);
        head.head(profile::kStringTable, size);
        file_.write(head.bytes(), head.size());
        file_.write(text, size);
        return texts_++;
    }
    std::uint64_t number_of_missed() {
        TextBuffer<80> text;
        text << moment_.missed << " samples could not be taken" << '\0';
        return number_of(text.data());
    }
    static Message value_type_of(std::uint64_t type, std::uint64_t unit) {
        Message one;
        one.number(value_type::kType, type);
        one.number(value_type::kUnit, unit);
        return one;
    }

    void add_files() {
        CodeFiles files(&room_->code);
        for (CodeFile file; files_ < kMostFiles && files.next(&file); ++files_) {
            room_->ranges[files_] = {file.begin, file.end};
            Message one;
            one.number(mapping::kId, files_ + 1);
            one.number(mapping::kBegin, file.begin);
            one.number(mapping::kEnd, file.end);
            one.number(mapping::kOffset, file.offset);
            one.number(mapping::kFile, number_of(file.path));
            one.number(mapping::kBuildId, number_of(file.build_id));
            add(profile::kMapping, one);
        }
    }

    // Keeps each address once, in ascending order, so that the id of a location is its index plus one.
    void gather_addresses() {
        std::uintptr_t *end = addresses_.data();
        for (const Site &site : moment_.sites) {
            if (!is_told(site)) continue;
            const auto calls = moment_.stacks->calls(static_cast<StackNumber>(site.stack));
            end = std::copy(calls.begin(), calls.end(), end);
        }
        // Heap sort is less code than std::sort, and this runs seldom.
        std::make_heap(addresses_.data(), end);
        std::sort_heap(addresses_.data(), end);
        end = std::unique(addresses_.data(), end);
        addresses_ = {addresses_.data(), end};
    }
    std::uint64_t id_of(std::uintptr_t address) const {
        return static_cast<std::uint64_t>(std::ranges::lower_bound(addresses_, address) - addresses_.begin()) + 1;
    }

    void add_location(std::size_t i) {
        const std::uintptr_t call = addresses_[i] - 1;
        Message one;
        one.number(location::kId, i + 1);
        for (std::size_t file = 0; file < files_; ++file) {
            if (call - room_->ranges[file].begin < room_->ranges[file].end - room_->ranges[file].begin)
                one.number(location::kMapping, file + 1);
        }
        one.number(location::kAddress, call);
        add(profile::kLocation, one);
    }

    void add_sample(const Site &site) {
        if (!is_told(site)) return;
        Message locations;
        for (const std::uintptr_t address : moment_.stacks->calls(static_cast<StackNumber>(site.stack)))
            locations.varint(id_of(address));
        Message values;
        for (const Estimate &sum : {site.allocated, site.live, site.peak}) {
            values.varint((sum.blocks + kOneBlock / 2) / kOneBlock);
            values.varint(sum.bytes);
        }
        Message head;
        head.head(profile::kSample,
                  bytes_within(sample::kLocations, locations) + bytes_within(sample::kValues, values));
        file_.write(head.bytes(), head.size());
        add(sample::kLocations, locations);
        add(sample::kValues, values);
    }
    static std::size_t bytes_within(std::uint32_t field, const Message &message) {
        Message head;
        head.head(field, message.size());
        return head.size() + message.size();
    }

    const ProfileMoment &moment_;
    Room *room_;
    std::span<std::uintptr_t> addresses_;
    GzipFile &file_;
    std::uint64_t texts_ = 0;
    std::size_t files_ = 0;
};

std::size_t count_calls(const ProfileMoment &moment) {
    std::size_t count = 0;
    for (const Site &site : moment.sites) count += moment.stacks->calls(static_cast<StackNumber>(site.stack)).size();
    return count;
}

}  // namespace

long write_pprof(const char *path, const ProfileMoment &moment) {
    const std::size_t calls = count_calls(moment);
    const std::size_t bytes = sizeof(Room) + calls * sizeof(std::uintptr_t);
    void *const pages = platform::map(bytes, 1);
    if (pages == nullptr) return -ENOMEM;
    Room *const room = ::new (pages) Room;
    long error = 0;
    {
        GzipFile file(path, &room->file);
        Writer(moment, room, {reinterpret_cast<std::uintptr_t *>(room + 1), calls}, file).write();
        error = file.finish();
    }
    platform::unmap(pages, bytes);
    return error;
}

}  // namespace gr
