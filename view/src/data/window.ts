// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the window of time that the reader selects, in whole slices.
// Invariant: first < last; the whole run is first = 0 and last = count.
// Must not know: who listens.

export type Listener = () => void;

export class TimeWindow {
    first = 0;
    last: number;
    readonly count: number;
    private readonly listeners = new Set<Listener>();

    constructor(readonly edges: number[]) {
        this.count = Math.max(edges.length - 1, 0);
        this.last = this.count;
    }

    get isWhole(): boolean {
        return this.first === 0 && this.last === this.count;
    }
    get from(): number {
        return this.edges[this.first] ?? 0;
    }
    get to(): number {
        return this.edges[this.last] ?? 0;
    }
    get begin(): number {
        return this.edges[0] ?? 0;
    }
    get end(): number {
        return this.edges[this.count] ?? 0;
    }

    select(first: number, last: number): void {
        first = Math.max(0, Math.min(first, this.count - 1));
        last = Math.max(first + 1, Math.min(last, this.count));
        if (this.count === 0 || (first === this.first && last === this.last)) return;
        this.first = first;
        this.last = last;
        for (const listener of [...this.listeners]) listener();
    }
    selectWhole(): void {
        this.select(0, this.count);
    }
    // The slices that hold the time from one moment to another.
    selectTimes(from: number, to: number): void {
        this.select(this.sliceOf(from), this.edgeAfter(to));
    }

    edgeNear(time: number): number {
        const slice = this.sliceOf(time);
        const [low = 0, high = 0] = this.edges.slice(slice, slice + 2);
        return time - low < high - time ? slice : slice + 1;
    }
    private sliceOf(time: number): number {
        let slice = this.count - 1;
        while (slice > 0 && (this.edges[slice] ?? 0) > time) --slice;
        return slice;
    }
    private edgeAfter(time: number): number {
        let edge = 1;
        while (edge < this.count && (this.edges[edge] ?? 0) < time) ++edge;
        return edge;
    }

    listen(listener: Listener): void {
        this.listeners.add(listener);
    }
}
