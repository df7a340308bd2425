// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a container's memory from its begin to its end, in pieces that are drawn as one.
// Invariant: the pieces lie in the order of their addresses and fill the container.
// Must not know: how a piece is drawn.

import type { Block, BlockState, Container } from "./record";

export interface Segment {
    extent: number; // blocks, or bytes where the blocks differ in size
    state: BlockState;
    thread: number | null;
    ids: string[]; // of the blocks in it; none where nothing was cut off yet
    name: string | null;
    changed: boolean;
}

export interface Strip {
    segments: Segment[];
    isMerged: boolean; // a piece may stand for several blocks
}

// Up to so many blocks are drawn one by one.
const kMostCells = 96;

type Named = [id: string, block: Block];

function segmentOf([id, block]: Named, extent: number, changed: boolean): Segment {
    const { state, thread, name } = block;
    return { extent, state, thread, ids: [id], name, changed };
}

function uncut(extent: number): Segment {
    return { extent, state: "never", thread: null, ids: [], name: null, changed: false };
}

function byIndex(container: Container, blocks: Named[], changed: (id: string) => boolean): Segment[] {
    const cells = Array.from({ length: container.blocks }, () => uncut(1));
    for (const named of blocks) {
        const index = named[1].index ?? -1;
        if (index >= 0 && index < cells.length) cells[index] = segmentOf(named, 1, changed(named[0]));
    }
    return cells;
}

function byOffset(container: Container, blocks: Named[], changed: (id: string) => boolean): Segment[] {
    const cells: Segment[] = [];
    let end = 0;
    for (const named of [...blocks].sort((one, other) => (one[1].offset ?? 0) - (other[1].offset ?? 0))) {
        const begin = named[1].offset ?? end;
        if (begin > end) cells.push(uncut(begin - end));
        cells.push(segmentOf(named, named[1].bytes, changed(named[0])));
        end = Math.max(end, begin + named[1].bytes);
    }
    if (container.bytes > end) cells.push(uncut(container.bytes - end));
    return cells;
}

// Neighbours that look alike become one piece.
function merged(cells: Segment[], mayMerge: (cell: Segment) => boolean): Segment[] {
    const strip: Segment[] = [];
    for (const cell of cells) {
        const last = strip.at(-1);
        if (last?.state === cell.state && last.thread === cell.thread && mayMerge(last) && mayMerge(cell)) {
            last.extent += cell.extent;
            last.ids.push(...cell.ids);
            last.name = null;
            last.changed ||= cell.changed;
        } else {
            strip.push({ ...cell, ids: [...cell.ids] });
        }
    }
    return strip;
}

// What was not cut off yet is merged first, then everything.
function fitted(cells: Segment[]): Segment[] {
    const cut = merged(cells, (cell) => cell.state === "never");
    return cut.length <= kMostCells ? cut : merged(cells, () => true);
}

export function stripOf(container: Container, blocks: Named[], changed: (id: string) => boolean): Strip {
    const hasOffsets = blocks.some(([, block]) => block.offset !== null) || container.blocks === 0;
    const cells = hasOffsets ? byOffset(container, blocks, changed) : byIndex(container, blocks, changed);
    const isTooLong = cells.length > kMostCells;
    return { segments: isTooLong ? fitted(cells) : cells, isMerged: isTooLong || hasOffsets };
}
