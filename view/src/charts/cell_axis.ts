// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an axis of cells equally wide: what lies where, and the ticks that are round numbers.
// Invariant: position 0 is the first cell's low edge, position `cells` the last one's high edge; both ways agree.
// Must not know: pixels, but for how many ticks fit.

import type { Axis } from "../document";
import { format } from "../data/units";

export interface Tick {
    position: number;
    text: string;
}

export class CellAxis {
    private readonly edges: number[];
    readonly isEven: boolean;

    constructor(
        readonly axis: Axis,
        edges: number[],
        readonly cells: number,
        readonly gaps: ReadonlySet<number> = new Set(),
    ) {
        this.isEven = edges.length !== cells + 1 || cells === 1;
        this.edges = this.isEven ? this.evenEdges(edges[0] ?? 0, edges[edges.length - 1] ?? 1) : edges;
    }

    private evenEdges(low: number, high: number): number[] {
        const logs = this.axis.scale === "log" && low > 0;
        return Array.from({ length: this.cells + 1 }, (_, at) => {
            const share = at / this.cells;
            if (at === this.cells) return high;
            return logs ? low * (high / low) ** share : low + (high - low) * share;
        });
    }

    edge(at: number): number {
        return this.edges[Math.max(0, Math.min(at, this.cells))] ?? 0;
    }
    toValue(position: number): number {
        const cell = Math.max(0, Math.min(Math.floor(position), this.cells - 1));
        const [low, high] = [this.edge(cell), this.edge(cell + 1)];
        const share = position - cell;
        return this.axis.scale === "log" && low > 0 ? low * (high / low) ** share : low + (high - low) * share;
    }
    toPosition(value: number): number {
        let [low, high] = [0, this.cells];
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (this.edge(middle) <= value) low = middle;
            else high = middle;
        }
        const [from, to] = [this.edge(low), this.edge(low + 1)];
        const logs = this.axis.scale === "log" && from > 0 && value > 0;
        return low + (logs ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from));
    }
    // The cell's range, as text.
    range(cell: number): string {
        return `${format(this.edge(cell), this.axis.unit)} to ${format(this.edge(cell + 1), this.axis.unit)}`;
    }

    ticks(from: number, to: number, most: number): Tick[] {
        if (this.cells === 0 || most < 1) return [];
        const atEdges = this.axis.unit === "address" || (!this.isEven && this.axis.scale === "linear");
        if (this.gaps.size > 0) return this.pieceTicks(from, to, most);
        const ticks = atEdges ? this.edgeTicks(from, to, most) : this.roundTicks(from, to, most);
        return ticks.length > 1 ? ticks : this.edgeTicks(from, to, most);
    }
    private edgeTicks(from: number, to: number, most: number): Tick[] {
        const step = Math.max(1, Math.ceil((to - from) / most));
        const ticks: Tick[] = [];
        for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(this.tick(this.edge(at)));
        return ticks;
    }
    // Where each piece of the axis begins, and evenly from there.
    private pieceTicks(from: number, to: number, most: number): Tick[] {
        const starts = [0, ...[...this.gaps].map((gap) => gap + 1).sort((a, b) => a - b), this.cells];
        const step = Math.max(1, Math.ceil((to - from) / most));
        return starts.slice(0, -1).flatMap((start, piece) => {
            const end = starts[piece + 1]! - (piece + 2 < starts.length ? 1 : 0);
            const ticks: Tick[] = [];
            for (let at = start; at === start || at <= end - step / 2; at += step) {
                if (at >= from && at <= to) ticks.push(this.tick(this.edge(at)));
            }
            return ticks;
        });
    }
    private roundTicks(from: number, to: number, most: number): Tick[] {
        const [low, high] = [this.toValue(from), this.toValue(to)];
        return roundValues(low, high, most, this.axis)
            .map((value) => this.tick(value))
            .filter(({ position }) => position >= from - 1e-9 && position <= to + 1e-9);
    }
    private tick(value: number): Tick {
        return { position: this.toPosition(value), text: format(value, this.axis.unit) };
    }
}

export function roundValues(low: number, high: number, most: number, axis: Axis): number[] {
    return axis.scale === "log" ? logRound(low, high, most, axis.unit === "bytes") : linearRound(low, high, most, axis.unit);
}

export function linearRound(low: number, high: number, most: number, unit: Axis["unit"]): number[] {
    const rough = (high - low) / most;
    if (!(rough > 0)) return [low];
    const step = roundStep(rough, unit);
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.floor(high / step + 1e-9) - first + 1;
    return Array.from({ length: Math.max(0, count) }, (_, at) => (first + at) * step);
}

const kTimes = [60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400];

function roundStep(rough: number, unit: Axis["unit"]): number {
    if (unit === "bytes") {
        const base = 1024 ** Math.floor(Math.log(Math.max(rough, 1)) / Math.log(1024));
        for (const step of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]) if (step * base >= rough) return step * base;
    }
    if (unit === "time" && rough > 20) {
        const step = kTimes.find((time) => time >= rough);
        if (step !== undefined) return step;
    }
    const base = 10 ** Math.floor(Math.log10(rough));
    return base * ([1, 2, 5, 10].find((step) => step * base >= rough * (1 - 1e-9)) ?? 10);
}

function logRound(low: number, high: number, most: number, binary: boolean): number[] {
    if (!(high > low)) return [low];
    const base = binary ? 2 : 10;
    const log = (value: number): number => Math.log(value) / Math.log(base);
    const first = Math.ceil(log(Math.max(low, Number.MIN_VALUE)) - 1e-9);
    const last = Math.floor(log(high) + 1e-9);
    if (low <= 0) return [0, ...logRound(high / base ** Math.min(most, 9), high, most - 1, binary)];
    const step = Math.max(1, Math.ceil((last - first + 1) / most));
    const powers: number[] = [];
    for (let power = Math.ceil(first / step) * step; power <= last; power += step) powers.push(base ** power);
    return powers.length > 2 || binary ? powers : powers.flatMap((power) => [power, 2 * power, 5 * power]).filter((value) => value <= high);
}
