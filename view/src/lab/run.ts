// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one allocator's run: what each place, container and block was at any step, and the totals up to there.
// Invariant: whatever stands somewhere at a step stands in something that is there at this step.
// Must not know: how a run is drawn; that there are other runs.

import type { Block, Changes, Container, Place, RunRecord, Step } from "./record";

// The values of one kind of thing, by id and step.
class Histories<T> {
    private readonly changes = new Map<string, { step: number; value: T | null }[]>();

    add(step: number, changes: Changes<T>): void {
        for (const [id, value] of changes) {
            const known = this.changes.get(id);
            if (known === undefined) this.changes.set(id, [{ step, value }]);
            else known.push({ step, value });
        }
    }
    get ids(): Iterable<string> {
        return this.changes.keys();
    }
    of(id: string): readonly { step: number; value: T | null }[] {
        return this.changes.get(id) ?? [];
    }
    at(id: string, step: number): T | null {
        const all = this.of(id);
        let [low, high] = [0, all.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (all[middle]!.step <= step) low = middle + 1;
            else high = middle;
        }
        return all[low - 1]?.value ?? null;
    }
    // All that is there, in the order in which it first came.
    allAt(step: number): Map<string, T> {
        const all = new Map<string, T>();
        for (const id of this.ids) {
            const value = this.at(id, step);
            if (value !== null) all.set(id, value);
        }
        return all;
    }
}

export interface State {
    places: Map<string, Place>;
    containers: Map<string, Container>;
    blocks: Map<string, Block>;
}

// At the end of a step: bytes at that moment, and counts from the first step on.
export interface Totals {
    held: number;
    used: number;
    locks: number;
    waits: number;
    kernel: number; // bytes that came from the kernel, without those that went back
}

export class Run {
    readonly places = new Histories<Place>();
    readonly containers = new Histories<Container>();
    readonly blocks = new Histories<Block>();
    readonly totals: Totals[] = [];
    // The locks that are held at the end of each step, and by which thread.
    readonly locked: ReadonlyMap<string, number>[] = [];
    readonly threads: number[];
    // The places that hold something at any step, and the places around them.
    readonly filled = new Set<string>();

    constructor(
        readonly name: string,
        readonly record: RunRecord,
    ) {
        const now: State = { places: new Map(), containers: new Map(), blocks: new Map() };
        const counts = { locks: 0, waits: 0, kernel: 0 };
        const locked = new Map<string, number>();
        record.steps.forEach((step, at) => {
            this.places.add(at, step.places);
            this.containers.add(at, step.containers);
            this.blocks.add(at, step.blocks);
            update(now.places, step.places);
            update(now.containers, step.containers);
            update(now.blocks, step.blocks);
            this.check(now, at);
            for (const event of step.events) {
                if (event.kind === "lock") {
                    ++counts.locks;
                    locked.set(event.place, step.thread);
                }
                if (event.kind === "unlock") locked.delete(event.place);
                if (event.kind === "wait") ++counts.waits;
                if (event.kind === "kernel") counts.kernel += event.bytes;
            }
            this.locked.push(new Map(locked));
            this.totals.push({ held: heldOf(now), used: usedOf(now), ...counts });
            this.fill(now);
        });
        this.threads = [...new Set(record.steps.map((step) => step.thread))].sort((a, b) => a - b);
    }

    get count(): number {
        return this.record.steps.length;
    }
    step(at: number): Step {
        return this.record.steps[at]!;
    }
    stateAt(step: number): State {
        return {
            places: this.places.allAt(step),
            containers: this.containers.allAt(step),
            blocks: this.blocks.allAt(step),
        };
    }

    private check(now: State, at: number): void {
        const missing = (what: string, where: string): never => {
            throw new Error(
                `The record of ${this.name} is damaged in line ${at + 2}: ${what} is in ${where}, which is not there.`,
            );
        };
        const placed = (what: string, place: string | null): void => {
            if (place !== null && !now.places.has(place)) missing(what, place);
        };
        for (const [id, place] of now.places) placed(id, place.parent);
        for (const [id, container] of now.containers) placed(id, container.place);
        for (const [id, block] of now.blocks) {
            placed(id, block.place);
            if (block.container !== null && !now.containers.has(block.container)) missing(id, block.container);
        }
        for (const id of now.places.keys()) {
            const above = new Set<string>();
            for (let place: string | null = id; place !== null; place = now.places.get(place)!.parent) {
                if (above.has(place)) missing(id, id);
                above.add(place);
            }
        }
    }
    private fill(now: State): void {
        const around = (place: string | null): void => {
            for (let at = place; at !== null && !this.filled.has(at); at = now.places.get(at)!.parent)
                this.filled.add(at);
        };
        for (const container of now.containers.values()) around(container.place);
        for (const block of now.blocks.values()) around(block.place);
    }
}

function update<T>(now: Map<string, T>, changes: Changes<T>): void {
    for (const [id, value] of changes) {
        if (value === null) now.delete(id);
        else now.set(id, value);
    }
}

// A container that was cut from another one holds nothing besides.
function heldOf(now: State): number {
    const containers = [...now.containers.values()].filter((container) => container.inside === null);
    const mapped = [...now.blocks.values()].filter((block) => block.container === null && block.state !== "never");
    return sum(containers) + sum(mapped);
}
function usedOf(now: State): number {
    return sum([...now.blocks.values()].filter((block) => block.state === "used"));
}
function sum(all: { bytes: number }[]): number {
    return all.reduce((bytes, one) => bytes + one.bytes, 0);
}
