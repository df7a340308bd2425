// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a heat map: cells over two axes, other pictures over the same axes by a switch, and the scale of its colours.
// Invariant: a cell that is told is the cell that is drawn there.
// Must not know: what the cells count.

import type { Cell, Table } from "../data/table";
import { format } from "../data/units";
import type { HeatChart } from "../document";
import { choice, make } from "../parts/dom";
import { CellAxis } from "./cell_axis";
import { CellPlot, stroke } from "./cell_plot";
import { type ChartView, kZoomKeys, type Place } from "./chart_view";
import { paintColourScale, sizeColourScale } from "./colour_scale";
import { listenTo } from "./gestures";
import { HeatCells, valueOf } from "./heat_cells";
import { Span } from "./viewport";

class Heat implements ChartView {
    readonly element: HTMLElement;
    readonly controls: HTMLElement[] = [];
    readonly keys = `${kZoomKeys}`;
    readonly knowsHeight = true;
    readonly follows: "time" | "nothing";
    private readonly plot = new CellPlot();
    private readonly x: CellAxis;
    private readonly y: CellAxis;
    private readonly columns: Span;
    private readonly rows: Span;
    private readonly pictures: { name: string; cells: HeatCells }[];
    private readonly scale = make("canvas", { "aria-hidden": "true" });
    private readonly height: number;
    private shown = 0;
    private cursor: { column: number; row: number } | null = null;
    private width = 0;

    constructor(
        private readonly chart: HeatChart,
        private readonly place: Place,
    ) {
        this.x = new CellAxis(chart.x, chart.x_edges, chart.columns);
        this.y = new CellAxis(chart.y, chart.y_edges, chart.rows, new Set(chart.y_gaps ?? []));
        this.columns = new Span(0, chart.columns, Math.min(4, chart.columns));
        this.rows = new Span(0, chart.rows, Math.min(4, chart.rows));
        this.follows = chart.x.unit === "time" ? "time" : "nothing";
        this.height = chart.y.unit === "address" ? 520 : 400;
        const beside = chart.beside ?? [];
        this.pictures = [{ name: chart.scale.label, cells: chart.cells }, ...beside].map(({ name, cells }) => ({
            name,
            cells: new HeatCells(chart, cells),
        }));
        if (beside.length > 0)
            this.controls.push(
                choice(
                    "Picture",
                    this.pictures.map(({ name }) => name),
                    (at) => this.show(at),
                ),
            );
        this.element = make(
            "div",
            {},
            this.plot.element,
            make("div", { class: "scale" }, make("span", {}, chart.scale.label), this.scale),
        );
        this.plot.element.style.minHeight = `${this.height}px`;
        sizeColourScale(this.scale);
        this.windowChanged();
        listenTo({
            surface: this.plot.element,
            focus: this.plot.element,
            x: this.columns,
            y: this.rows,
            plot: () => this.plot.area,
            changed: () => (this.paint(), this.place.viewChanged()),
            point: (x, y, event) => this.place.hint(this.describe(this.cellAt(x, y)), event),
            leave: () => this.place.unhint(),
            step: (dx, dy, to) => this.step(dx, dy, to),
            cursor: () => this.cursor && { x: this.cursor.column + 0.5, y: this.cursor.row + 0.5 },
        });
    }

    private show(at: number): void {
        this.shown = at;
        this.paint();
    }
    private cellAt(x: number, y: number): { column: number; row: number } {
        const cell = (place: number, count: number): number => Math.max(0, Math.min(Math.floor(place), count - 1));
        return { column: cell(x, this.chart.columns), row: cell(y, this.chart.rows) };
    }
    private describe({ column, row }: { column: number; row: number }): string {
        const { chart } = this;
        const lines = this.y.gaps.has(row)
            ? ["nothing lies here"]
            : this.pictures.map(({ name, cells }) => {
                  const cell = cells.at(column, row);
                  return `${name}: ${cell === 0 ? "nothing" : format(valueOf(chart, cell), chart.scale.unit)}`;
              });
        return [`${chart.x.label}: ${this.x.range(column)}`, `${chart.y.label}: ${this.y.range(row)}`, ...lines].join(
            "\n",
        );
    }
    private step(dx: number, dy: number, to: "by" | "end"): void {
        const { columns, rows } = this.chart;
        if (columns === 0 || rows === 0) return;
        const first = this.cellAt(this.columns.at(0), this.rows.at(0));
        if (to === "end") this.cursor = { row: this.cursor?.row ?? first.row, column: dx < 0 ? 0 : columns - 1 };
        else this.cursor = this.cursor === null ? first : this.cellAt(this.cursor.column + dx, this.cursor.row + dy);
        for (const add of [0, 1]) {
            this.columns.reveal(this.cursor.column + add);
            this.rows.reveal(this.cursor.row + add);
        }
        this.paint();
        this.place.tell(this.describe(this.cursor));
    }

    windowChanged(): void {
        if (this.follows !== "time" || this.place.window.count === 0) return;
        const { window } = this.place;
        if (window.isWhole) this.columns.limit(0, this.chart.columns);
        else
            this.columns.limit(
                ...([window.from, window.to].map((time) =>
                    Math.max(0, Math.min(this.x.toPosition(time), this.chart.columns)),
                ) as [number, number]),
            );
    }
    zoomedTimes(): [number, number] | null {
        return this.follows === "time" && !this.columns.isWhole
            ? [this.x.toValue(this.columns.from), this.x.toValue(this.columns.to)]
            : null;
    }

    draw(width: number): void {
        this.width = width;
        this.paint();
        this.paintScale();
    }
    private paint(): void {
        const colours = this.place.theme.now;
        const context = this.plot.start(this.width, this.height, this.chart.y.unit === "address" ? 122 : 72, 16);
        const { area } = this.plot;
        context.strokeStyle = colours.line;
        context.strokeRect(area.left - 0.5, area.top - 0.5, area.width + 1, area.height + 1);
        this.plot.clip(context, () => {
            this.paintCells(context);
            this.paintGaps(context);
            this.paintMarks(context);
            this.paintCursor(context);
        });
        const ticks = this.plot.rowTicks(this.y, this.rows);
        this.plot.leftAxis(
            context,
            ticks.map(({ position, text }) => ({ y: this.plot.y(this.rows, position), text })),
            colours,
            false,
        );
        this.plot.bottomAxis(context, this.x, this.columns, colours);
    }
    private paintCells(context: CanvasRenderingContext2D): void {
        const { columns, rows } = this.chart;
        if (columns === 0 || rows === 0) return;
        const picture = this.pictures[this.shown]!.cells.drawn(this.place.theme.isDark);
        const { area } = this.plot;
        context.imageSmoothingEnabled =
            this.columns.width > area.width * devicePixelRatio || this.rows.width > area.height * devicePixelRatio;
        context.drawImage(
            picture,
            this.columns.from,
            rows - this.rows.to,
            this.columns.width,
            this.rows.width,
            area.left,
            area.top,
            area.width,
            area.height,
        );
    }
    // What lies between two pieces of the axis: a hatched band.
    private paintGaps(context: CanvasRenderingContext2D): void {
        const { area } = this.plot;
        context.strokeStyle = this.place.theme.now.quiet;
        context.lineWidth = 1;
        for (const row of this.y.gaps) {
            const [top, bottom] = [this.plot.y(this.rows, row + 1), this.plot.y(this.rows, row)];
            const middle = (top + bottom) / 2;
            context.fillStyle = this.place.theme.now.shade;
            context.fillRect(area.left, top, area.width, bottom - top);
            context.beginPath();
            for (let x = area.left; x < area.left + area.width; x += 8) {
                context.moveTo(x, middle + 2);
                context.lineTo(x + 4, middle - 2);
            }
            context.stroke();
        }
    }
    private paintMarks(context: CanvasRenderingContext2D): void {
        if (this.follows !== "time") return;
        const { area } = this.plot;
        context.strokeStyle = this.place.theme.now.quiet;
        context.setLineDash([2, 3]);
        for (const { time } of this.place.document.marks) {
            const x = this.plot.x(this.columns, this.x.toPosition(time));
            stroke(context, x, area.top, x, area.top + area.height);
        }
        context.setLineDash([]);
    }
    private paintCursor(context: CanvasRenderingContext2D): void {
        if (this.cursor === null) return;
        const { column, row } = this.cursor;
        const [left, top] = [this.plot.x(this.columns, column), this.plot.y(this.rows, row + 1)];
        const [right, bottom] = [this.plot.x(this.columns, column + 1), this.plot.y(this.rows, row)];
        for (const [colour, out] of [
            [this.place.theme.now.ground, 3],
            [this.place.theme.now.ink, 1.5],
        ] as const) {
            context.strokeStyle = colour;
            context.lineWidth = 1.5;
            context.strokeRect(left - out, top - out, right - left + 2 * out, bottom - top + 2 * out);
        }
    }
    private paintScale(): void {
        const { chart, place } = this;
        paintColourScale(this.scale, place.theme.now, (share) =>
            format(valueOf(chart, 1 + share * 254), chart.scale.unit),
        );
    }

    table(): Table {
        const { chart } = this;
        const rows: Cell[][] = [];
        const [from, to] = [Math.floor(this.columns.from), Math.ceil(this.columns.to)];
        for (let row = 0; row < chart.rows; ++row) {
            for (let column = from; column < to; ++column) {
                const cells = this.pictures.map(({ cells: all }) => all.at(column, row));
                if (cells.every((cell) => cell === 0)) continue;
                const edges = [this.x.edge(column), this.x.edge(column + 1), this.y.edge(row), this.y.edge(row + 1)];
                rows.push([...edges, ...cells.map((cell) => (cell === 0 ? null : valueOf(chart, cell)))]);
            }
        }
        const ends = [chart.x, chart.y].flatMap(({ label, unit }) =>
            ["from", "to"].map((end) => ({ name: `${label}, ${end}`, unit })),
        );
        return { columns: [...ends, ...this.pictures.map(({ name }) => ({ name, unit: chart.scale.unit }))], rows };
    }
}

export function heatView(chart: HeatChart, place: Place): ChartView {
    return new Heat(chart, place);
}
