// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: records of lab allocators for the tests of the page: small models that do what the page must be able to draw.
// Invariant: the same records on every machine; a record holds what changed with each step, as an allocator's does.
// Must not know: the page; the lab's allocators.

const kBlock = 64;
const kBytes = 8192;

// Writes the lines of a record: after each call whatever differs from the call before.
class Recorder {
    constructor(allocator, script) {
        this.lines = [JSON.stringify({ format: "granary-lab-show 1", allocator, script, program: null })];
        this.places = {};
        this.containers = {};
        this.blocks = {};
        this.events = [];
        this.before = { places: {}, containers: {}, blocks: {} };
    }
    step(line, thread, call, note = null) {
        const changed = {};
        for (const kind of ["places", "containers", "blocks"]) {
            const [now, before] = [this[kind], this.before[kind]];
            const all = [...new Set([...Object.keys(before), ...Object.keys(now)])];
            const differ = all.filter((id) => JSON.stringify(now[id]) !== JSON.stringify(before[id]));
            changed[kind] = Object.fromEntries(differ.map((id) => [id, now[id] ?? null]));
            this.before[kind] = structuredClone(now);
        }
        const step = this.lines.length;
        this.lines.push(
            JSON.stringify({ step, line, thread, call, note, events: this.events, ...changed, later: "ignored" }),
        );
        this.events = [];
    }
    text() {
        return this.lines.join("\n") + "\n";
    }
}

// Thread 1 allocates, thread 2 frees, round after round: the blowup of Hoard's figure 1.
const kRounds = 8;
const kEach = 4;
export const kScript = [
    "# Two threads: one allocates, the other frees.",
    "threads 2",
    "# The producer's round.",
    `1: x[${kEach}] = malloc ${kBlock}`,
    "# The consumer's round.",
    "2: free x[*]",
    "1: end",
    "",
].join("\n");

function place(kind, label, parent = null, more = {}) {
    return { parent, kind, label, ...more };
}
function block(container, index, state, thread, name, where = null) {
    return { container, index, bytes: kBlock, state, thread, name, place: where };
}
function superblock(where, label, blocks, used) {
    return { place: where, label, block: kBlock, blocks, bytes: kBytes, kind: "superblock", numbers: { used } };
}

function rounds(record, malloc, free) {
    for (let round = 0; round < kRounds; ++round) {
        for (let at = 0; at < kEach; ++at) {
            malloc(round, at);
            record.step(4, 1, `x.${at} = malloc(${kBlock})`, at === 0 ? "The producer's round." : null);
        }
        for (let at = 0; at < kEach; ++at) {
            free(round, at);
            record.step(6, 2, `free(x.${at})`, at === 0 ? "The consumer's round." : null);
        }
    }
    record.step(7, 1, "end");
}

// Each heap keeps what its thread freed: a new superblock each round.
export function privateHeaps() {
    const record = new Recorder("private", kScript);
    record.places["heap.1"] = place("heap", "heap 1", null, { thread: 1 });
    record.places["heap.2"] = place("heap", "heap 2", null, { thread: 2 });
    rounds(
        record,
        (round, at) => {
            if (at === 0) record.events.push({ kind: "kernel", bytes: kBytes });
            record.containers[`s.${round}`] = superblock("heap.1", `s${round}`, kEach, at + 1);
            record.blocks[`b.${round}.${at}`] = block(`s.${round}`, at, "used", 1, `x.${at}`);
        },
        (round, at) => (record.blocks[`b.${round}.${at}`] = block(`s.${round}`, at, "buffered", 2, null, "heap.2")),
    );
    return record.text();
}

// One superblock with more blocks than are drawn one by one. It moves to the global heap when it is empty, and back.
const kMany = 127;
export function hoard() {
    const record = new Recorder("hoard", kScript);
    const heap = (name, used) => {
        const held = Object.values(record.containers).filter((one) => one.place.startsWith(`heap.${name}.`)).length;
        const kind = name === 0 ? "global" : "heap";
        const thread = name === 0 ? {} : { thread: name };
        record.places[`heap.${name}`] = place(kind, `heap ${name}`, null, {
            ...thread,
            numbers: { u: used, a: held * kBytes },
        });
    };
    for (const name of [0, 1, 2]) {
        heap(name, 0);
        record.places[`heap.${name}.empty`] = place("group", "empty", `heap.${name}`);
        record.places[`heap.${name}.low`] = place("group", "up to 1/8 full", `heap.${name}`);
    }
    rounds(
        record,
        (round, at) => {
            record.events.push({ kind: "lock", place: "heap.1" });
            if (round === 0 && at === 0) record.events.push({ kind: "kernel", bytes: kBytes });
            if (round > 0 && at === 0) {
                record.events.push({
                    kind: "rule",
                    cite: "Hoard 000, figure 2, line 6",
                    text: "Heap 1 has no free block: it looks into heap 0.",
                });
                record.events.push({ kind: "lock", place: "heap.0" });
                record.events.push({ kind: "move", what: "s.1", from: "heap.0.empty", to: "heap.1.low" });
                record.events.push({ kind: "unlock", place: "heap.0" });
            }
            record.containers["s.1"] = superblock("heap.1.low", "s1", kMany, at + 1);
            record.blocks[`b.${at}`] = block("s.1", at, "used", 1, `x.${at}`);
            heap(0, 0);
            heap(1, (at + 1) * kBlock);
            record.events.push({ kind: "unlock", place: "heap.1" });
        },
        (round, at) => {
            record.events.push({ kind: "wait", place: "heap.1" }, { kind: "lock", place: "heap.1" });
            const isEmpty = at === kEach - 1;
            if (isEmpty) {
                record.events.push({
                    kind: "rule",
                    cite: "Hoard 000, figure 2, line 13",
                    text: "Heap 1 is too empty: a superblock moves to heap 0.",
                });
                record.events.push({ kind: "move", what: "s.1", from: "heap.1.low", to: "heap.0.empty" });
            }
            record.containers["s.1"] = superblock(isEmpty ? "heap.0.empty" : "heap.1.low", "s1", kMany, kEach - at - 1);
            record.blocks[`b.${at}`] = block("s.1", at, "free", null, null);
            heap(1, (kEach - at - 1) * kBlock);
            heap(0, 0);
            record.events.push({ kind: "unlock", place: "heap.1" });
        },
    );
    return record.text();
}

// Every state of a block, ranges that differ in size, a block that is mapped by itself, more threads than colours, and
// names that look like HTML.
export function everyState() {
    const record = new Recorder("every <b>state</b>", null);
    record.places.all = place("arena", "arena & <i>lists</i>", null, { numbers: { "a<b": 3 } });
    record.places.far = place("remote", "freed by others", "all");
    record.places.near = place("buffer", "buffer of T2", "all", { thread: 2 });
    record.places.none = place("bin", "never filled", "all");
    record.containers.cut = {
        place: "all",
        label: "cut",
        block: kBlock,
        blocks: 24,
        bytes: 24 * kBlock,
        kind: "container",
    };
    record.containers.ranges = { place: "all", label: "ranges", block: 0, blocks: 0, bytes: 4096, kind: "container" };
    const locks = { 1: ["lock"], 2: ["wait"], 3: ["unlock"] };
    for (let thread = 1; thread <= 9; ++thread) {
        record.events.push(...(locks[thread] ?? []).map((kind) => ({ kind, place: "all" })));
        record.blocks[`cut.${thread}`] = block("cut", thread, "used", thread, `n${thread}`);
        record.step(null, thread, `n${thread} = malloc(${kBlock})`);
    }
    record.blocks["cut.1"] = block("cut", 1, "remote", 2, null, "far");
    record.step(null, 2, "free(n1)");
    record.blocks["cut.2"] = block("cut", 2, "buffered", 2, null, "near");
    record.blocks["cut.3"] = block("cut", 3, "free", null, null);
    record.step(null, 2, "free(n2)");
    record.blocks["r.1"] = {
        container: "ranges",
        offset: 0,
        bytes: 1024,
        state: "used",
        thread: 1,
        name: "large",
        place: null,
    };
    record.blocks["r.2"] = {
        container: "ranges",
        offset: 1536,
        bytes: 512,
        state: "free",
        thread: null,
        name: null,
        place: null,
    };
    record.blocks.alone = { container: null, bytes: 65536, state: "used", thread: 1, name: "mapped", place: "all" };
    record.step(null, 1, "large = malloc(1024)");
    delete record.blocks.alone;
    record.step(null, 1, "free(mapped)");
    return record.text();
}

export function labDocument(title, runs) {
    return { version: 1, title, runs: Object.entries(runs).map(([name, record]) => ({ name, record })) };
}
