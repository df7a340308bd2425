// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bars over buckets, with the share of all up to each bucket as a line. Two series stand side by side, more lie upon each
//       other.
// Invariant: the values are the window's, summed over its slices; the shares are of their sum. What is told are values, whatever
//            a bar's height stands for.
// Must not know: what is counted.

import type { Table } from "../data/table";
import { allValues, barsInWindow } from "../data/slices";
import { format } from "../data/units";
import type { BarsChart } from "../document";
import { make } from "../parts/dom";
import { CellAxis, linearRound } from "./cell_axis";
import { CellPlot } from "./cell_plot";
import { type ChartView, kZoomKeys, type Place } from "./chart_view";
import { listenTo } from "./gestures";
import { Legend, nothingIn } from "./legend";
import { colourOf, dashOf, patternOf } from "./paint";
import { Span } from "./viewport";

const kHeight = 300;
const kMostBeside = 2;

export function running(values: number[]): number[] {
    const all = values.reduce((sum, value) => sum + value, 0);
    let sum = 0;
    return values.map((value) => (all === 0 ? 0 : (sum += value) / all));
}

// How many doublings each bucket spans; what begins at nothing, one.
export function doublingsOf(edges: number[]): number[] {
    return edges.slice(1).map((high, at) => Math.log2(high / Math.max(edges[at]!, high / 2)));
}

class Bars implements ChartView {
    readonly element: HTMLElement;
    readonly controls: HTMLElement[] = [];
    readonly keys = kZoomKeys;
    readonly knowsHeight = true;
    readonly follows: "sums" | "nothing";
    private readonly plot = new CellPlot();
    private readonly buckets: number;
    private readonly axis: CellAxis;
    private readonly span: Span;
    private readonly legend: Legend;
    private readonly doublings: number[];
    private values: number[][] = [];
    private heights: number[][] = [];
    private cursor: number | null = null;

    constructor(
        private readonly chart: BarsChart,
        private readonly place: Place,
    ) {
        this.buckets = Math.max(0, chart.edges.length - 1);
        this.axis = new CellAxis(chart.x, chart.edges, this.buckets);
        this.doublings = chart.per_doubling === true ? doublingsOf(chart.edges) : [];
        this.span = new Span(0, this.buckets, Math.min(4, this.buckets));
        this.follows = chart.series.some((series) => series.slices !== undefined) ? "sums" : "nothing";
        this.legend = new Legend(
            chart.series.map(({ name }) => name),
            true,
            () => this.paint(),
            nothingIn(place, (at) => allValues(chart.series[at]!)),
        );
        this.element = make("div", {}, this.legend.element, this.plot.element);
        this.plot.element.style.minHeight = `${kHeight}px`;
        this.sum();
        listenTo({
            surface: this.plot.element,
            focus: this.plot.element,
            x: this.span,
            y: null,
            plot: () => this.plot.area,
            changed: () => this.paint(),
            point: (x, _y, event) => this.point(x, event),
            leave: () => this.place.unhint(),
            step: (dx, dy, to) => this.step(dx === 0 ? dy : dx, to),
            cursor: () => (this.cursor === null ? null : { x: this.cursor + 0.5, y: 0 }),
        });
    }

    private sum(): void {
        this.values = this.chart.series.map((series) => barsInWindow(series, this.buckets, this.place.window));
        this.heights = this.values.map((values) => values.map((value, at) => value / (this.doublings[at] ?? 1)));
    }
    windowChanged(): void {
        this.sum();
    }

    private get shown(): number[] {
        return this.chart.series.map((_, at) => at).filter((at) => !this.legend.hidden.has(at));
    }
    private describe(bucket: number): string {
        const parts = this.shown.map((at) => {
            const values = this.values[at]!;
            const all = values.reduce((sum, value) => sum + value, 0);
            const text = `${this.chart.series[at]!.name}: ${format(values[bucket], this.chart.y.unit)}`;
            if (all === 0) return text;
            const share = ` (${format(values[bucket]! / all, "fraction")}`;
            return `${text}${share}${this.chart.cumulative ? `; up to here ${format(running(values)[bucket], "fraction")}` : ""})`;
        });
        return [this.axis.range(bucket), ...parts].join("\n");
    }
    private point(x: number, event: PointerEvent): void {
        const bucket = Math.min(Math.floor(x), this.buckets - 1);
        if (bucket >= 0) this.place.hint(this.describe(bucket), event);
    }
    private step(by: number, to: "by" | "end"): void {
        if (this.buckets === 0) return;
        const middle = Math.floor(this.span.at(0));
        const next = to === "end" ? (by < 0 ? 0 : this.buckets - 1) : this.cursor === null ? middle : this.cursor + by;
        this.cursor = Math.max(0, Math.min(next, this.buckets - 1));
        this.span.reveal(this.cursor);
        this.span.reveal(this.cursor + 1);
        this.paint();
        this.place.tell(this.describe(this.cursor));
    }

    private width = 0;
    draw(width: number): void {
        this.width = width;
        this.paint();
    }
    private paint(): void {
        const colours = this.place.theme.now;
        this.legend.draw(colours);
        const context = this.plot.start(this.width, kHeight, 66, this.chart.cumulative ? 48 : 16);
        const top = this.highest();
        const scale = this.scaleOf(top);
        const { area } = this.plot;
        const y = (value: number): number => area.top + (1 - scale(value)) * area.height;
        this.plot.leftAxis(
            context,
            this.levels(top).map((value) => ({ y: y(value), text: format(value, this.chart.y.unit) })),
            colours,
            true,
        );
        this.plot.clip(context, () => {
            if (this.isStacked) this.paintStack(context, y);
            else this.shown.forEach((at, order) => this.paintSeries(context, at, order, y));
            if (this.chart.cumulative && this.isStacked) this.paintShare(context, this.total(this.values), null);
            else if (this.chart.cumulative) for (const at of this.shown) this.paintShare(context, this.values[at]!, at);
            if (this.cursor !== null) {
                context.strokeStyle = colours.ink;
                context.lineWidth = 1.5;
                const left = this.plot.x(this.span, this.cursor);
                context.strokeRect(left, area.top + 1, this.plot.x(this.span, this.cursor + 1) - left, area.height - 2);
            }
        });
        context.lineWidth = 1;
        this.plot.bottomAxis(context, this.axis, this.span, colours);
        if (this.chart.cumulative) this.shareAxis(context);
    }
    // What lies upon each other has sums, which a logarithmic axis does not show.
    private get isStacked(): boolean {
        return this.chart.series.length > kMostBeside && !this.logs;
    }
    private highest(): number {
        const [from, to] = [Math.floor(this.span.from), Math.ceil(this.span.to)];
        if (this.isStacked) return Math.max(0, ...this.total(this.heights).slice(from, to));
        return Math.max(0, ...this.shown.flatMap((at) => this.heights[at]!.slice(from, to)));
    }
    // Of the series that are shown, by bucket.
    private total(numbers: number[][]): number[] {
        return Array.from({ length: this.buckets }, (_, bucket) =>
            this.shown.reduce((sum, at) => sum + (numbers[at]![bucket] ?? 0), 0),
        );
    }
    private get logs(): boolean {
        return this.chart.y.scale === "log";
    }
    private lowest(): number {
        const positive = this.shown.flatMap((at) => this.heights[at]!.filter((value) => value > 0));
        return positive.reduce((least, value) => Math.min(least, value), Infinity) / 2;
    }
    private scaleOf(top: number): (value: number) => number {
        if (top === 0) return () => 0;
        if (!this.logs) return (value) => value / (top * 1.06);
        const [low, high] = [Math.log(this.lowest()), Math.log(top * 1.2)];
        return (value) => (value <= 0 ? 0 : (Math.log(value) - low) / (high - low));
    }
    private levels(top: number): number[] {
        if (top === 0) return [0];
        if (!this.logs) return linearRound(0, top, 6, this.chart.y.unit);
        const [first, last] = [Math.ceil(Math.log10(this.lowest())), Math.floor(Math.log10(top * 1.2))];
        const step = Math.max(1, Math.ceil((last - first + 1) / 8));
        return Array.from(
            { length: Math.max(0, Math.floor((last - first) / step) + 1) },
            (_, at) => 10 ** (first + at * step),
        );
    }
    private paintStack(context: CanvasRenderingContext2D, y: (value: number) => number): void {
        const colours = this.place.theme.now;
        const cell = this.area(0).width;
        const gap = cell > 6 ? Math.min(cell * 0.12, 6) : 0;
        const sums = Array.from({ length: this.buckets }, () => 0);
        for (const at of this.shown) {
            context.fillStyle = patternOf(at, colours, context);
            context.strokeStyle = colourOf(at, colours);
            context.lineWidth = 1;
            for (let bucket = Math.floor(this.span.from); bucket < this.span.to; ++bucket) {
                const value = this.heights[at]![bucket] ?? 0;
                if (value <= 0) continue;
                const { left, width } = this.area(bucket);
                const low = y(sums[bucket]!);
                sums[bucket]! += value;
                const high = y(sums[bucket]!);
                const each = Math.max(width - gap, 0.7);
                context.fillRect(left + gap / 2, high, each, low - high);
                if (each > 3 && low - high > 2)
                    context.strokeRect(left + gap / 2 + 0.5, high + 0.5, each - 1, low - high - 1);
            }
        }
    }
    private paintSeries(
        context: CanvasRenderingContext2D,
        at: number,
        order: number,
        y: (value: number) => number,
    ): void {
        const colours = this.place.theme.now;
        const bottom = this.plot.area.top + this.plot.area.height;
        const cell = this.area(0).width;
        const gap = cell > 6 ? Math.min(cell * 0.12, 6) : 0;
        context.fillStyle = this.chart.series.length > 1 ? patternOf(at, colours, context) : colourOf(at, colours);
        context.strokeStyle = colourOf(at, colours);
        context.lineWidth = 1;
        for (let bucket = Math.floor(this.span.from); bucket < this.span.to; ++bucket) {
            const value = this.heights[at]![bucket] ?? 0;
            if (value <= 0) continue;
            const { left, width } = this.area(bucket);
            const each = (width - gap) / this.shown.length;
            const [x, high] = [left + gap / 2 + order * each, Math.min(y(value), bottom - 1)];
            context.fillRect(x, high, Math.max(each, 0.7), bottom - high);
            if (this.chart.series.length > 1 && each > 3)
                context.strokeRect(x + 0.5, high + 0.5, each - 1, bottom - high);
        }
    }
    private area(bucket: number): { left: number; width: number } {
        const left = this.plot.x(this.span, bucket);
        return { left, width: this.plot.x(this.span, bucket + 1) - left };
    }
    // Of one series, or of all together.
    private paintShare(context: CanvasRenderingContext2D, values: number[], at: number | null): void {
        const { area } = this.plot;
        const colours = this.place.theme.now;
        context.beginPath();
        context.moveTo(this.plot.x(this.span, 0), area.top + area.height);
        running(values).forEach((share, bucket) => {
            context.lineTo(this.plot.x(this.span, bucket + 1), area.top + (1 - share / 1.06) * area.height);
        });
        context.strokeStyle = at !== null && this.shown.length > 1 ? colourOf(at, colours) : colours.ink;
        context.lineWidth = 1.75;
        context.setLineDash(dashOf((at ?? 0) + 1));
        context.stroke();
        context.setLineDash([]);
    }
    private shareAxis(context: CanvasRenderingContext2D): void {
        const { area } = this.plot;
        context.textAlign = "left";
        context.textBaseline = "middle";
        context.fillStyle = this.place.theme.now.quiet;
        for (const share of [0, 0.25, 0.5, 0.75, 1]) {
            context.fillText(
                format(share, "fraction"),
                area.left + area.width + 8,
                area.top + (1 - share / 1.06) * area.height,
            );
        }
    }

    table(): Table {
        const { x, y, series, cumulative } = this.chart;
        const shares = cumulative ? this.values.map(running) : [];
        return {
            columns: [
                { name: `${x.label}, from`, unit: x.unit },
                { name: `${x.label}, to`, unit: x.unit },
                ...series.map(({ name }) => ({ name, unit: y.unit })),
                ...shares.map((_, at) => ({
                    name: `${series[at]!.name}, share up to here`,
                    unit: "fraction" as const,
                })),
            ],
            rows: Array.from({ length: this.buckets }, (_, bucket) => [
                this.chart.edges[bucket]!,
                this.chart.edges[bucket + 1]!,
                ...this.values.map((values) => values[bucket]!),
                ...shares.map((share) => share[bucket]!),
            ]),
        };
    }
}

export function barsView(chart: BarsChart, place: Place): ChartView {
    return new Bars(chart, place);
}
