// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: makes a trace out of lines on standard input, for tests of what reads traces: write_trace FILE.
//
//     event THREAD TIME OP ADDRESS SIZE [STACK [ALIGNMENT'S LOGARITHM]]     OP: malloc free new delete calloc realloc ...
//     stack PARENT ADDRESS       thread NUMBER NAME       mark TIME THREAD TEXT       program PATH
//     sample TIME RESIDENT ANONYMOUS       resident TIME BEGIN BYTES [BEGIN BYTES]...       unfinished
//     request TIME THREAD KIND ADDRESS SIZE DETAIL STACK     KIND: the format's number
//     memory TIME PAGE_TABLES [KIND NAME STACK MAPPINGS BYTES RESIDENT]...     NAME: - or a word; KIND: as above
//     stacks all|BYTES       module TIME BEGIN END OFFSET PATH
//
// Invariant: a line that it does not understand ends it with 2. Numbers may be hexadecimal.
// Must not know: what the trace is wanted for.
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "reading/trace/writer.hpp"

namespace gr::trace {
namespace {

const std::map<std::string, Op> kOps = {{"malloc", Op::malloc},
                                        {"calloc", Op::calloc},
                                        {"realloc", Op::realloc},
                                        {"aligned", Op::aligned_alloc},
                                        {"new", Op::operator_new},
                                        {"new[]", Op::operator_new_array},
                                        {"free", Op::free},
                                        {"reallocfree", Op::realloc_free},
                                        {"delete", Op::operator_delete},
                                        {"delete[]", Op::operator_delete_array},
                                        {"map", Op::map},
                                        {"unmap", Op::unmap},
                                        {"advise", Op::advise},
                                        {"break", Op::brk}};

class Wrong {};

std::uint64_t number_in(std::istream &line) {
    std::string word;
    if (!(line >> word)) throw Wrong();
    return std::stoull(word, nullptr, 0);
}

std::string rest_of(std::istream &line) {
    std::string text;
    std::getline(line >> std::ws, text);
    return text;
}

struct Story {
    Start start;
    std::map<std::uint32_t, std::vector<Event>> events;
    std::vector<StackNode> stacks;
    std::vector<Thread> threads;
    std::vector<ModuleList> modules;
    std::vector<Mark> marks;
    std::vector<Sample> samples;
    std::vector<Request> requests;
    std::vector<std::string> names;
    std::vector<MemoryLook> memory;
    std::vector<Resident> residents;
    bool finished = true;

    Story() {
        start.program = "/test/program";
        start.arguments = {"program"};
        start.allocator = "/lib/libc.so.6";
        start.process = 1000;
        start.page_bytes = 4096;
        start.cpus = 2;
    }
    void read_event(std::istream &line) {
        Event event;
        event.thread = ThreadNumber{static_cast<std::uint32_t>(number_in(line))};
        event.time = Time{number_in(line)};
        std::string op;
        line >> op;
        if (!kOps.contains(op)) throw Wrong();
        event.op = kOps.at(op);
        event.address = number_in(line);
        event.size = number_in(line);
        if (!(line >> std::ws).eof()) event.stack = StackNumber{static_cast<std::uint32_t>(number_in(line))};
        if (!(line >> std::ws).eof()) event.log2_alignment = static_cast<std::uint8_t>(number_in(line));
        events[number_of(event.thread)].push_back(event);
    }
    void read_stacks(std::istream &line) {
        const std::string word = rest_of(line);
        start.stacks = word == "all" ? Stacks::all : Stacks::sampled;
        if (word != "all") start.stack_bytes = std::stoull(word, nullptr, 0);
    }
    void read_resident(std::istream &line) {
        Resident resident{Time{number_in(line)}, 4096, {}};
        while (!(line >> std::ws).eof()) {
            const std::uint64_t begin = number_in(line);
            resident.runs.push_back({begin, number_in(line)});
        }
        residents.push_back(resident);
    }
    void read_request(std::istream &line) {
        Request request;
        request.time = Time{number_in(line)};
        request.thread = ThreadNumber{static_cast<std::uint32_t>(number_in(line))};
        request.kind = RequestKind{static_cast<std::uint8_t>(number_in(line))};
        request.address = number_in(line);
        request.size = number_in(line);
        request.detail = static_cast<std::uint8_t>(number_in(line));
        request.stack = StackNumber{static_cast<std::uint32_t>(number_in(line))};
        requests.push_back(request);
    }
    void read_memory(std::istream &line) {
        MemoryLook look{Time{number_in(line)}, number_in(line), {}};
        while (!(line >> std::ws).eof()) {
            MemoryPart part;
            part.kind = MemoryKind{static_cast<std::uint8_t>(number_in(line))};
            std::string name;
            if (!(line >> name)) throw Wrong();
            if (name != "-") {
                names.push_back(name);
                part.name = static_cast<std::uint32_t>(names.size());
            }
            part.stack = StackNumber{static_cast<std::uint32_t>(number_in(line))};
            part.mappings = number_in(line);
            part.bytes = number_in(line);
            part.resident = number_in(line);
            look.parts.push_back(part);
        }
        memory.push_back(look);
    }
    void read(const std::string &text) {
        std::istringstream line(text);
        std::string what;
        if (!(line >> what) || what.front() == '#') return;
        const auto thread = [&] { return ThreadNumber{static_cast<std::uint32_t>(number_in(line))}; };
        if (what == "event") {
            read_event(line);
        } else if (what == "stack") {
            const StackNumber parent{static_cast<std::uint32_t>(number_in(line))};
            stacks.push_back({parent, number_in(line)});
        } else if (what == "thread") {
            const ThreadNumber number = thread();
            threads.push_back({number, 1000 + std::int64_t{number_of(number)}, rest_of(line), Time{}});
        } else if (what == "mark") {
            const Time time{number_in(line)};
            const ThreadNumber number = thread();
            marks.push_back({time, number, rest_of(line)});
        } else if (what == "sample") {
            Sample sample;
            sample.time = Time{number_in(line)};
            sample.resident_bytes = number_in(line);
            sample.anonymous_bytes = number_in(line);
            samples.push_back(sample);
        } else if (what == "resident") {
            read_resident(line);
        } else if (what == "request") {
            read_request(line);
        } else if (what == "memory") {
            read_memory(line);
        } else if (what == "program") {
            start.program = rest_of(line);
        } else if (what == "stacks") {
            read_stacks(line);
        } else if (what == "module") {
            ModuleList list{Time{number_in(line)}, {}};
            const std::uint64_t begin = number_in(line);
            const std::uint64_t end = number_in(line);
            const std::uint64_t offset = number_in(line);
            list.modules.push_back({begin, end, offset, rest_of(line), ""});
            modules.push_back(list);
        } else if (what == "unfinished") {
            finished = false;
        } else {
            throw Wrong();
        }
    }
    void write(const std::string &path) const {
        Writer writer(path);
        writer.start(start);
        if (!stacks.empty()) writer.stacks(stacks);
        Time last;
        for (const auto &[number, list] : events) {
            for (std::size_t at = 0; at < list.size(); at += kMostEvents) {
                const std::size_t count = std::min<std::size_t>(list.size() - at, kMostEvents);
                writer.events(ThreadNumber{number}, std::span(list).subspan(at, count), 0);
            }
            last = std::max(last, list.back().time);
        }
        for (const ModuleList &list : modules) writer.modules(list);
        if (!threads.empty()) writer.threads(threads);
        if (!marks.empty()) writer.marks(marks);
        writer.samples(samples);
        writer.requests(requests);
        if (!names.empty()) writer.memory_names(names);
        for (const MemoryLook &look : memory) writer.memory(look);
        for (const Resident &resident : residents) writer.resident(resident);
        if (finished) writer.end({last, End::Reason::exit, 0, writer.events_written(), 0});
    }
};

}  // namespace
}  // namespace gr::trace

int main(int count, char **words) {
    if (count != 2) return 2;
    gr::trace::Story story;
    for (std::string text; std::getline(std::cin, text);) {
        try {
            story.read(text);
        } catch (...) {
            std::fprintf(stderr, "write_trace: cannot read: %s\n", text.c_str());
            return 2;
        }
    }
    story.write(words[1]);
    return 0;
}
