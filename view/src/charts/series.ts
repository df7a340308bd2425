// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: lines or areas over a common x; over time, they show the window.
// Invariant: what is told at the cursor are the document's values, never sums made for stacking.
// Must not know: what the values are.

import uPlot from "uplot";
import type { Table } from "../data/table";
import { format } from "../data/units";
import type { SeriesChart } from "../document";
import { make } from "../parts/dom";
import { roundValues } from "./cell_axis";
import { type ChartView, kZoomKeys, type Place } from "./chart_view";
import { listenTo } from "./gestures";
import { Legend, nothingIn } from "./legend";
import { colourOf, dashOf, kFont, patternOf } from "./paint";
import { Span } from "./viewport";

export interface SeriesOptions {
    height: number;
    overview: boolean; // always the whole, and without gestures: the window is selected on it
}

const kLeft = 66;
const kTickRoom = 90;

export class SeriesView implements ChartView {
    readonly element: HTMLElement;
    readonly controls: HTMLElement[] = [];
    readonly keys = kZoomKeys;
    readonly knowsHeight = true;
    readonly follows: "time" | "nothing";
    readonly plot: HTMLElement;
    private readonly legend: Legend;
    private readonly span: Span;
    private readonly data: { at: number[]; values: (number | null)[][] };
    private drawn: uPlot | null = null;
    private cursor: number | null = null;
    private width = 0;

    constructor(
        private readonly chart: SeriesChart,
        private readonly place: Place,
        private readonly options: SeriesOptions,
    ) {
        this.data = this.drawable();
        const ends = this.ends();
        this.span = new Span(ends[0], ends[1], (ends[1] - ends[0]) / 1e6);
        this.follows = chart.x.unit === "time" && !options.overview ? "time" : "nothing";
        this.legend = new Legend(
            chart.series.map(({ name }) => name),
            chart.stacked,
            () => this.draw(this.width),
            nothingIn(place, (at) => chart.series[at]!.values),
        );
        this.plot = make("div", { class: "plot" });
        this.element = make("div", {}, this.legend.element, this.plot);
        this.plot.style.minHeight = `${options.height}px`;
        if (options.overview) return;
        this.plot.tabIndex = 0;
        listenTo({
            surface: this.plot,
            focus: this.plot,
            x: this.span,
            y: null,
            plot: () => this.area(),
            changed: () => this.viewChanged(),
            point: (x, _y, event) => this.place.hint(this.describe(this.nearest(this.valueAt(x))), event),
            leave: () => this.place.unhint(),
            step: (dx, dy, to) => this.step(dx === 0 ? dy : dx, to),
            cursor: () => (this.cursor === null ? null : { x: this.placeOf(this.data.at[this.cursor]!), y: 0 }),
        });
    }

    // A logarithmic axis has no place for what is not above zero.
    private drawable(): { at: number[]; values: (number | null)[][] } {
        const { chart } = this;
        const kept = chart.at.map((_, at) => at).filter((at) => chart.x.scale === "linear" || chart.at[at]! > 0);
        const values = chart.series.map((series) =>
            kept.map((at) => {
                const value = series.values[at] ?? null;
                return value !== null && chart.y.scale === "log" && value <= 0 ? null : value;
            }),
        );
        return { at: kept.map((at) => chart.at[at]!), values };
    }
    private placeOf(x: number): number {
        return this.chart.x.scale === "log" ? Math.log10(x) : x;
    }
    private valueAt(place: number): number {
        return this.chart.x.scale === "log" ? 10 ** place : place;
    }
    private ends(): [number, number] {
        const { window } = this.place;
        const { at } = this.data;
        if (this.chart.x.unit === "time" && window.count > 0) return [window.from, window.to];
        const [low, high] = [at[0] ?? 0, at[at.length - 1] ?? 1];
        return low < high
            ? [this.placeOf(low), this.placeOf(high)]
            : [this.placeOf(low) - 0.5, this.placeOf(low) + 0.5];
    }
    area(): { left: number; top: number; width: number; height: number } {
        const box = this.drawn?.bbox ?? { left: 0, top: 0, width: 1, height: 1 };
        const ratio = devicePixelRatio;
        return { left: box.left / ratio, top: box.top / ratio, width: box.width / ratio, height: box.height / ratio };
    }

    private nearest(x: number): number {
        const { at } = this.data;
        let [low, high] = [0, Math.max(0, at.length - 1)];
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (at[middle]! <= x) low = middle;
            else high = middle;
        }
        return this.chart.step || x - at[low]! <= at[high]! - x ? low : high;
    }
    private get shown(): number[] {
        return this.chart.series.map((_, at) => at).filter((at) => !this.legend.hidden.has(at));
    }
    private describe(at: number): string {
        const { chart, data } = this;
        const values = this.shown.map(
            (series) => `${chart.series[series]!.name}: ${format(data.values[series]![at], chart.y.unit)}`,
        );
        return [format(data.at[at], chart.x.unit), ...values].join("\n");
    }
    private step(by: number, to: "by" | "end"): void {
        const last = this.data.at.length - 1;
        if (last < 0) return;
        const first = this.nearest(this.valueAt(this.span.at(0)));
        const next = to === "end" ? (by < 0 ? 0 : last) : this.cursor === null ? first : this.cursor + by;
        this.cursor = Math.max(0, Math.min(next, last));
        const place = this.placeOf(this.data.at[this.cursor]!);
        if (place < this.span.from || place > this.span.to) {
            this.span.reveal(place);
            this.viewChanged();
        }
        this.showCursor();
        this.place.tell(this.describe(this.cursor));
    }
    private showCursor(): void {
        if (this.drawn === null || this.cursor === null) return;
        this.drawn.setCursor({ left: this.drawn.valToPos(this.data.at[this.cursor]!, "x"), top: 0 }, false);
    }

    windowChanged(): void {
        if (this.follows === "time") this.span.limit(...this.ends());
    }
    private viewChanged(): void {
        this.drawn?.setScale("x", { min: this.valueAt(this.span.from), max: this.valueAt(this.span.to) });
        this.place.viewChanged();
    }
    zoomedTimes(): [number, number] | null {
        return this.follows === "time" && !this.span.isWhole ? [this.span.from, this.span.to] : null;
    }

    draw(width: number): void {
        this.width = width;
        this.legend.draw(this.place.theme.now);
        this.drawn?.destroy();
        this.drawn = new uPlot(this.plotOptions(width), this.plotData(), this.plot);
        this.showCursor();
    }
    // The order in which uPlot draws: a stack from its top, so that each lower area covers.
    private get order(): number[] {
        return this.chart.stacked ? [...this.shown].reverse() : this.shown;
    }
    private plotData(): uPlot.AlignedData {
        const sums = new Array<number>(this.data.at.length).fill(0);
        const stacked = new Map<number, number[]>();
        if (this.chart.stacked) {
            for (const series of this.shown) {
                this.data.values[series]!.forEach((value, at) => (sums[at] = sums[at]! + (value ?? 0)));
                stacked.set(series, [...sums]);
            }
        }
        return [this.data.at, ...this.order.map((series) => stacked.get(series) ?? this.data.values[series]!)];
    }
    private plotOptions(width: number): uPlot.Options {
        const colours = this.place.theme.now;
        const { x, y } = this.chart;
        const ticks = (axis: typeof x, pixels: () => number): Partial<uPlot.Axis> => ({
            stroke: colours.quiet,
            font: kFont,
            ticks: { stroke: colours.line, width: 1, size: 4 },
            splits: (_plot, _axis, low, high) => roundValues(low, high, Math.max(2, Math.floor(pixels())), axis),
            filter: (_plot, splits) => splits,
            values: (_plot, splits) => splits.map((value) => format(value, axis.unit)),
        });
        return {
            width,
            height: this.options.height,
            padding: [10, 16, 0, 0],
            legend: { show: false },
            cursor: {
                show: !this.options.overview,
                y: false,
                drag: { x: false, y: false, setScale: false },
                points: { size: 7 },
                dataIdx: (_plot, _series, hovered) => hovered,
            },
            scales: {
                x: {
                    time: false,
                    distr: x.scale === "log" ? 3 : 1,
                    range: () => [this.valueAt(this.span.from), this.valueAt(this.span.to)],
                },
                y: { distr: y.scale === "log" ? 3 : 1, range: (_plot, low, high) => this.rows(low, high) },
            },
            axes: [
                { ...ticks(x, () => (width - kLeft) / kTickRoom), grid: { show: false }, size: 24, gap: 4 },
                {
                    ...ticks(y, () => this.options.height / 48),
                    grid: { stroke: colours.line, width: 1 },
                    size: kLeft,
                    gap: 4,
                },
            ],
            series: [{}, ...this.order.map((series) => this.plotSeries(series))],
            hooks: { draw: [(plot) => this.drawMarks(plot)] },
        };
    }
    private rows(low: number | null, high: number | null): [number, number] {
        if (low === null || high === null) return [0, 1];
        if (this.chart.y.scale === "log") return [low / 1.5, high * 1.5];
        return low >= 0 ? [0, high === 0 ? 1 : high * 1.06] : [low * 1.06, Math.max(high * 1.06, 0)];
    }
    private plotSeries(series: number): uPlot.Series {
        const colours = this.place.theme.now;
        const { stepped } = uPlot.paths;
        const { stacked, step } = this.chart;
        return {
            stroke: colourOf(series, colours),
            width: this.options.overview ? 1.75 : 1.5,
            dash: stacked ? [] : dashOf(series),
            points: { show: this.data.at.length < 3 },
            ...(stacked ? { fill: (plot: uPlot) => patternOf(series, colours, plot.ctx) as unknown as string } : {}),
            ...(step && stepped ? { paths: stepped({ align: 1 }) } : {}),
        };
    }
    private drawMarks(plot: uPlot): void {
        if (this.chart.x.unit !== "time") return;
        const { ctx: context, bbox } = plot;
        const colours = this.place.theme.now;
        const ratio = devicePixelRatio;
        context.save();
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.strokeStyle = context.fillStyle = colours.quiet;
        context.lineWidth = ratio;
        context.setLineDash([2 * ratio, 3 * ratio]);
        context.font = kFont.replace("12px", `${11 * ratio}px`);
        context.textBaseline = "top";
        context.textAlign = "left";
        let free = -Infinity;
        for (const mark of this.place.document.marks) {
            const at = plot.valToPos(mark.time, "x", true);
            if (at < bbox.left || at > bbox.left + bbox.width) continue;
            context.beginPath();
            context.moveTo(at, bbox.top);
            context.lineTo(at, bbox.top + bbox.height);
            context.stroke();
            const length = context.measureText(mark.text).width;
            const fits = at + 5 * ratio + length < bbox.left + bbox.width;
            const left = fits ? at + 5 * ratio : at - 5 * ratio - length;
            if (left < free) continue;
            context.fillText(mark.text, left, bbox.top + 2 * ratio);
            free = left + length + 8 * ratio;
        }
        context.restore();
    }

    table(): Table {
        const { x, y, at, series } = this.chart;
        const within = at
            .map((_, index) => index)
            .filter((index) => this.chart.x.unit !== "time" || this.isInWindow(at[index]!));
        return {
            columns: [{ name: x.label, unit: x.unit }, ...series.map(({ name }) => ({ name, unit: y.unit }))],
            rows: within.map((index) => [at[index]!, ...series.map(({ values }) => values[index] ?? null)]),
        };
    }
    private isInWindow(time: number): boolean {
        const { window } = this.place;
        return this.options.overview || window.isWhole || (time >= window.from && time <= window.to);
    }
}
