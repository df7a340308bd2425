// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the record of a lab allocator, "granary-lab-show 1", as values with types.
// Invariant: a record that breaks the format is refused with one line that names the record's line.
// Must not know: how a record is drawn.

export type BlockState = "used" | "free" | "remote" | "buffered" | "never";
export type Numbers = Record<string, number>;

// Holds containers, blocks or other places: a heap, a fullness group, a buffer.
export interface Place {
    parent: string | null;
    kind: string;
    label: string;
    thread: number | null;
    numbers: Numbers;
}

// Memory that is cut into blocks.
export interface Container {
    place: string | null;
    inside: string | null; // the container that it was cut from
    kind: string;
    label: string;
    block: number; // bytes of each block; 0: each block has bytes of its own
    blocks: number;
    bytes: number;
    numbers: Numbers;
}

export interface Block {
    container: string | null;
    index: number | null;
    offset: number | null;
    bytes: number;
    state: BlockState;
    thread: number | null;
    name: string | null;
    place: string | null; // the list that holds the block, where the list is not the container's own
}

export type StepEvent =
    | { kind: "lock" | "unlock" | "wait"; place: string }
    | { kind: "rule"; cite: string; text: string }
    | { kind: "move"; what: string; from: string | null; to: string | null }
    | { kind: "kernel"; bytes: number };

// What a step changed, by id; null: it is gone.
export type Changes<T> = Map<string, T | null>;

export interface Step {
    line: number | null;
    thread: number;
    call: string;
    note: string | null;
    events: StepEvent[];
    places: Changes<Place>;
    containers: Changes<Container>;
    blocks: Changes<Block>;
}

export interface RunRecord {
    allocator: string;
    script: string | null;
    program: string | null;
    steps: Step[];
}

const kFormat = "granary-lab-show 1";
const kStates = ["used", "free", "remote", "buffered", "never"];

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fields(value: unknown, name: string): Fields {
    if (!isFields(value)) throw new Error(`${name} is not an object`);
    return value;
}
function text(from: Fields, name: string): string {
    const value = from[name];
    if (typeof value !== "string") throw new Error(`"${name}" is not a text`);
    return value;
}
function textOrNull(from: Fields, name: string): string | null {
    return (from[name] ?? null) === null ? null : text(from, name);
}
function number(from: Fields, name: string): number {
    const value = from[name];
    if (typeof value !== "number" || !Number.isFinite(value)) throw new Error(`"${name}" is not a number`);
    return value;
}
function numberOrNull(from: Fields, name: string): number | null {
    return (from[name] ?? null) === null ? null : number(from, name);
}
// A count or a size.
function amount(from: Fields, name: string): number {
    const value = from[name] === undefined ? 0 : number(from, name);
    if (value < 0) throw new Error(`"${name}" is below 0`);
    return value;
}
function numbers(from: Fields): Numbers {
    const all = fields(from.numbers ?? {}, '"numbers"');
    return Object.fromEntries(Object.keys(all).map((name) => [name, number(all, name)]));
}

function placeOf(from: Fields): Place {
    return {
        parent: textOrNull(from, "parent"),
        kind: text(from, "kind"),
        label: text(from, "label"),
        thread: numberOrNull(from, "thread"),
        numbers: numbers(from),
    };
}

function containerOf(from: Fields): Container {
    return {
        place: textOrNull(from, "place"),
        inside: textOrNull(from, "inside"),
        kind: text(from, "kind"),
        label: text(from, "label"),
        block: amount(from, "block"),
        blocks: amount(from, "blocks"),
        bytes: amount(from, "bytes"),
        numbers: numbers(from),
    };
}

function blockOf(from: Fields): Block {
    const state = text(from, "state");
    if (!kStates.includes(state)) throw new Error(`there is no state "${state}" of a block`);
    return {
        container: textOrNull(from, "container"),
        index: numberOrNull(from, "index"),
        offset: numberOrNull(from, "offset"),
        bytes: amount(from, "bytes"),
        state: state as BlockState,
        thread: numberOrNull(from, "thread"),
        name: textOrNull(from, "name"),
        place: textOrNull(from, "place"),
    };
}

function changesOf<T>(step: Fields, name: string, one: (from: Fields) => T): Changes<T> {
    const changes: Changes<T> = new Map();
    for (const [id, value] of Object.entries(fields(step[name] ?? {}, `"${name}"`)))
        changes.set(id, value === null ? null : one(fields(value, id)));
    return changes;
}

// null: a kind of event that this page does not know.
function eventOf(value: unknown): StepEvent | null {
    const from = fields(value, "an event");
    const kind = text(from, "kind");
    switch (kind) {
        case "lock":
        case "unlock":
        case "wait":
            return { kind, place: text(from, "place") };
        case "rule":
            return { kind, cite: text(from, "cite"), text: text(from, "text") };
        case "move":
            return { kind, what: text(from, "what"), from: textOrNull(from, "from"), to: textOrNull(from, "to") };
        case "kernel":
            return { kind, bytes: number(from, "bytes") };
        default:
            return null;
    }
}

function stepOf(from: Fields): Step {
    const events = from.events ?? [];
    if (!Array.isArray(events)) throw new Error('"events" is not a list');
    return {
        line: numberOrNull(from, "line"),
        thread: number(from, "thread"),
        call: text(from, "call"),
        note: textOrNull(from, "note"),
        events: events.map(eventOf).filter((event) => event !== null),
        places: changesOf(from, "places", placeOf),
        containers: changesOf(from, "containers", containerOf),
        blocks: changesOf(from, "blocks", blockOf),
    };
}

// The name is for the message.
export function readRecord(name: string, record: string): RunRecord {
    const lines = record.split("\n").map((line) => line.trim());
    while (lines.at(-1) === "") lines.pop();
    const parsed = <T>(at: number, one: (from: Fields) => T): T => {
        try {
            return one(fields(JSON.parse(lines[at] ?? ""), "the line"));
        } catch (error) {
            const why = error instanceof SyntaxError ? "the line is not JSON" : (error as Error).message;
            throw new Error(`The record of ${name} is damaged in line ${at + 1}: ${why}.`);
        }
    };
    if (lines.length === 0) throw new Error(`The record of ${name} is empty.`);
    const head = parsed(0, (from) => {
        if (from.format !== kFormat) throw new Error(`its format is not "${kFormat}"`);
        return {
            allocator: text(from, "allocator"),
            script: textOrNull(from, "script"),
            program: textOrNull(from, "program"),
        };
    });
    if (lines.length === 1) throw new Error(`The record of ${name} has no step.`);
    return { ...head, steps: lines.slice(1).map((_, at) => parsed(at + 1, stepOf)) };
}
