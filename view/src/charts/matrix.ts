// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a matrix whose values can be read, coloured by how much they are; and, where it is small, the same as a flow.
// Invariant: each value stands in its cell as text, if there is room for all columns so; else in the table, and it is told at the
//            mouse and at the keyboard's cursor. A scale says which colour is how much. All columns fit their place.
// Must not know: what rows and columns are.

import type { Table } from "../data/table";
import { format } from "../data/units";
import type { MatrixChart } from "../document";
import { choice, make } from "../parts/dom";
import type { ChartView, Place } from "./chart_view";
import { paintColourScale } from "./colour_scale";
import { flowOf } from "./flow";
import { css, heat, inkOn } from "./paint";

const kFlowRows = 16;
const kTextCell = 70; // pixels, with a value in it
const kNamesRoom = 170;
const kNamedCell = 9; // below it names would lie over each other
const kLeastCell = 2;
const kFar = 100; // times

class Matrix implements ChartView {
    readonly element = make("div", {});
    readonly controls: HTMLElement[] = [];
    readonly keys = "Arrow keys move from cell to cell.";
    readonly knowsHeight = false;
    readonly follows = "nothing";
    private cells: HTMLTableCellElement[][] = [];
    private current = { row: 0, column: 0 };
    private asFlow = false;
    private width = 0;

    constructor(
        private readonly chart: MatrixChart,
        private readonly place: Place,
    ) {
        const few = Math.max(chart.rows.length, chart.columns.length) <= kFlowRows && chart.rows.length > 0;
        if (few)
            this.controls.push(
                choice("Picture", ["Matrix", "Flow"], (at) => ((this.asFlow = at === 1), this.draw(this.width))),
            );
    }

    private get top(): number {
        return Math.max(0, ...this.chart.values.map((row) => row.reduce((most, value) => Math.max(most, value), 0)));
    }
    private describe(row: number, column: number): string {
        const { chart } = this;
        const all = chart.values.flat().reduce((sum, value) => sum + value, 0);
        const value = chart.values[row]?.[column] ?? 0;
        const share = all === 0 ? "" : `, ${format(value / all, "fraction")} of all`;
        return `${chart.row_label} ${chart.rows[row]}, ${chart.column_label} ${chart.columns[column]}: ${format(value, chart.unit)}${share}`;
    }

    draw(width: number): void {
        this.width = width;
        this.element.replaceChildren(
            ...(this.asFlow
                ? [flowOf(this.chart, this.place, width)]
                : [this.grid(), ...this.scale(this.top, this.low)]),
        );
    }
    // Of a cell without text; null: there is room for text.
    private get narrow(): number | null {
        const columns = Math.max(1, this.chart.columns.length);
        const each = (this.width - kNamesRoom) / columns;
        if (each >= kTextCell) return null;
        if (each >= kNamedCell) return Math.floor(each);
        return Math.max(kLeastCell, Math.min(kNamedCell - 1, Math.floor(this.width / columns)));
    }
    // Where the values differ by far, a colour stands for a value's logarithm, or one value would leave all others pale.
    private get low(): number {
        const { top } = this;
        const least = this.chart.values.flat().reduce((low, value) => (value > 0 && value < low ? value : low), top);
        return top / least > kFar ? least : 0;
    }
    private scale(top: number, low: number): HTMLElement[] {
        if (top === 0) return [];
        const canvas = make("canvas", { "aria-hidden": "true" });
        const { unit, row_label, column_label } = this.chart;
        const valueAt = (share: number): number => (low === 0 ? share * top : low * (top / low) ** share);
        paintColourScale(canvas, this.place.theme.now, (share) => format(Math.round(valueAt(share)), unit));
        return [
            make("div", { class: "scale" }, make("span", {}, `rows: ${row_label}, columns: ${column_label}`), canvas),
        ];
    }
    private grid(): HTMLElement {
        const { chart, narrow } = this;
        const { top, low } = this;
        const { dark } = this.place.theme.now;
        const head = make(
            "tr",
            {},
            make("th", { class: "corner" }, `${chart.row_label} ↓ · ${chart.column_label} →`),
            ...chart.columns.map((name) => make("th", { scope: "col", title: name }, make("span", {}, name))),
        );
        this.cells = chart.values.map((values, row) =>
            values.map((value, column) => this.cell(row, column, value, (of) => share(of, top, low), dark)),
        );
        const body = chart.rows.map((name, row) =>
            make("tr", {}, make("th", { scope: "row", title: name }, name), ...(this.cells[row] ?? [])),
        );
        const table = make(
            "table",
            { class: classOf(narrow), role: "grid", "aria-label": chart.title },
            make("thead", {}, head),
            make("tbody", {}, ...body),
        );
        if (narrow !== null) table.style.setProperty("--cell", `${narrow}px`);
        table.addEventListener("keydown", (event) => this.key(event));
        return make("div", { class: "scroller" }, table);
    }
    private cell(
        row: number,
        column: number,
        value: number,
        shareOf: (value: number) => number,
        dark: boolean,
    ): HTMLTableCellElement {
        const here = row === this.current.row && column === this.current.column;
        const text = value === 0 ? "·" : format(value, this.chart.unit);
        const cell = make("td", { tabindex: here ? "0" : "-1", "data-value": String(value) });
        if (this.narrow === null) cell.textContent = text;
        else cell.setAttribute("aria-label", text);
        if (value > 0) {
            const colour = heat(shareOf(value), dark);
            cell.style.background = css(colour);
            cell.style.color = inkOn(colour);
        }
        cell.addEventListener("pointermove", (event) => this.place.hint(this.describe(row, column), event));
        cell.addEventListener("pointerleave", () => this.place.unhint());
        cell.addEventListener("focus", () => this.goTo(row, column));
        return cell;
    }
    private goTo(row: number, column: number): void {
        const { current } = this;
        this.cells[current.row]?.[current.column]?.setAttribute("tabindex", "-1");
        this.current = { row, column };
        this.cells[row]?.[column]?.setAttribute("tabindex", "0");
        this.place.tell(this.describe(row, column));
    }
    private key(event: KeyboardEvent): void {
        const { row, column } = this.current;
        const next: [number, number] | undefined = {
            ArrowLeft: [row, column - 1],
            ArrowRight: [row, column + 1],
            ArrowUp: [row - 1, column],
            ArrowDown: [row + 1, column],
            Home: [row, 0],
            End: [row, this.chart.columns.length - 1],
        }[event.key] as [number, number] | undefined;
        if (next === undefined) return;
        event.preventDefault();
        this.cells[next[0]]?.[next[1]]?.focus();
    }

    table(): Table {
        const { chart } = this;
        return {
            columns: [
                { name: `${chart.row_label} / ${chart.column_label}`, unit: "text" },
                ...chart.columns.map((name) => ({ name, unit: chart.unit })),
            ],
            rows: chart.rows.map((name, row) => [name, ...(chart.values[row] ?? [])]),
        };
    }
}

// Of the scale's length, at which a value's colour lies.
function share(value: number, top: number, low: number): number {
    return low === 0 ? value / top : Math.log(value / low) / Math.log(top / low);
}

function classOf(narrow: number | null): string {
    if (narrow === null) return "matrix";
    return narrow >= kNamedCell ? "matrix narrow" : "matrix narrow nameless";
}

export function matrixView(chart: MatrixChart, place: Place): ChartView {
    return new Matrix(chart, place);
}
