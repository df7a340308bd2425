// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how the page calls places, containers, blocks and threads.
// Invariant: a thing that is gone is still called as it was last.
// Must not know: where a name stands.

import type { Block, BlockState } from "./record";
import type { Run } from "./run";

// Styles repeat after so many threads.
const kThreadStyles = 7;

export function threadName(thread: number): string {
    return `T${thread}`;
}

export function threadClass(thread: number | null): string {
    if (thread === null || thread < 1) return "nobody";
    const style = ((thread - 1) % kThreadStyles) + 1;
    return `thread-${style}${thread > kThreadStyles ? " again" : ""}`;
}

function last<T>(all: readonly { step: number; value: T | null }[], step: number): T | null {
    let found: T | null = null;
    for (const { step: at, value } of all) {
        if (value !== null && (at <= step || found === null)) found = value;
    }
    return found;
}

export function placeName(run: Run, id: string | null, step: number): string {
    if (id === null) return "nowhere";
    const place = last(run.places.of(id), step);
    if (place === null) return id;
    return place.parent === null ? place.label : `${placeName(run, place.parent, step)}, ${place.label}`;
}

export function containerName(run: Run, id: string, step: number): string {
    return last(run.containers.of(id), step)?.label ?? id;
}

function position(run: Run, { container, index, offset }: Block, step: number): string | null {
    if (container === null) return null;
    const where = index !== null ? `[${index}]` : offset !== null ? ` + ${offset}` : "";
    return `${containerName(run, container, step)}${where}`;
}

export function blockName(run: Run, id: string, step: number): string {
    const block = last(run.blocks.of(id), step);
    return block === null ? id : (block.name ?? position(run, block, step) ?? id);
}

// Of a block that had more names.
const kMostNames = 3;

// By the names that the block had, and where it lies.
export function blockTitle(run: Run, id: string): string {
    const names = [...new Set(run.blocks.of(id).flatMap(({ value }) => value?.name ?? []))];
    const block = last(run.blocks.of(id), run.count);
    const where = block === null ? null : position(run, block, run.count);
    const told = names.length > kMostNames ? [...names.slice(0, kMostNames), "…"] : names;
    return [told.length === 0 ? id : told.join(", "), ...(where === null ? [] : [where])].join(" · ");
}

// Of whatever a step moved.
export function thingName(run: Run, id: string, step: number): string {
    if (run.containers.of(id).length > 0) return containerName(run, id, step);
    return run.blocks.of(id).length > 0 ? blockName(run, id, step) : placeName(run, id, step);
}

const kStateWords: Record<BlockState, string> = {
    used: "used",
    free: "free",
    remote: "freed by another thread, waits for the owner",
    buffered: "in a buffer of free blocks",
    never: "not cut off yet",
};

export function stateWords(state: BlockState): string {
    return kStateWords[state];
}

export function blockWords(block: Block): string {
    const by = block.thread === null ? "" : ` by ${threadName(block.thread)}`;
    return block.state === "used" ? `used${by}` : stateWords(block.state);
}
