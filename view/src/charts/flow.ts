// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a matrix as ribbons from its rows, on the left, to its columns, on the right.
// Invariant: a ribbon is as thick as its value; nothing else is drawn that has a thickness.
// Must not know: how the matrix came to be.

import { format } from "../data/units";
import type { MatrixChart } from "../document";
import type { Colours } from "../parts/theme";
import type { Place } from "./chart_view";
import { colourOf } from "./paint";

const kSvg = "http://www.w3.org/2000/svg";
const kBetween = 14;
const kNames = 190;
const kBlock = 8;

function draw(name: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
    const element = document.createElementNS(kSvg, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    element.append(...children);
    return element;
}

function stacked(sums: number[], scale: number): number[] {
    let top = kBetween;
    return sums.map((sum) => {
        const here = top;
        top += sum * scale + kBetween;
        return here;
    });
}

class Flow {
    private readonly rowSums: number[];
    private readonly columnSums: number[];
    private readonly all: number;
    readonly height: number;
    private readonly scale: number;
    private readonly left: number[];
    private readonly right: number[];
    private readonly colours: Colours;

    constructor(
        private readonly chart: MatrixChart,
        private readonly place: Place,
        private readonly width: number,
    ) {
        this.rowSums = chart.values.map((row) => row.reduce((sum, value) => sum + value, 0));
        this.columnSums = chart.columns.map((_, column) => chart.values.reduce((sum, row) => sum + (row[column] ?? 0), 0));
        this.all = this.rowSums.reduce((sum, value) => sum + value, 0);
        const most = Math.max(this.rowSums.length, this.columnSums.length);
        const thick = 220 + most * 10;
        this.height = thick + (most + 1) * kBetween;
        this.scale = this.all === 0 ? 0 : thick / this.all;
        this.left = stacked(this.rowSums, this.scale);
        this.right = stacked(this.columnSums, this.scale);
        this.colours = place.theme.now;
    }

    ribbons(): SVGElement[] {
        const [out, into] = [[...this.left], [...this.right]];
        const { rows, columns, values, unit } = this.chart;
        const [x0, x1] = [kNames + kBlock, this.width - kNames - kBlock];
        const bend = (x0 + x1) / 2;
        return values.flatMap((line, row) =>
            line.flatMap((value, column) => {
                if (value === 0) return [];
                const thick = value * this.scale;
                const [a, b] = [out[row]! + thick / 2, into[column]! + thick / 2];
                out[row]! += thick;
                into[column]! += thick;
                const text = `${rows[row]} → ${columns[column]}: ${format(value, unit)}, ${format(value / this.all, "fraction")} of all`;
                const path = draw("path", {
                    d: `M${x0} ${a}C${bend} ${a} ${bend} ${b} ${x1} ${b}`,
                    fill: "none", stroke: colourOf(row, this.colours), "stroke-opacity": 0.45, "stroke-width": Math.max(thick, 0.75),
                }) as SVGPathElement;
                path.addEventListener("pointermove", (event) => this.place.hint(text, event));
                path.addEventListener("pointerleave", () => this.place.unhint());
                return [path];
            }),
        );
    }
    side(names: string[], sums: number[], tops: number[], isLeft: boolean): SVGElement[] {
        return names.flatMap((name, at) => {
            const thick = Math.max(sums[at]! * this.scale, 1);
            const x = isLeft ? kNames : this.width - kNames - kBlock;
            const text = `${name.length > 18 ? `${name.slice(0, 17)}…` : name}  ${format(sums[at], this.chart.unit)}`;
            return [
                draw("rect", { x, y: tops[at]!, width: kBlock, height: thick, fill: isLeft ? colourOf(at, this.colours) : this.colours.quiet }),
                draw("text", {
                    x: isLeft ? x - 8 : x + kBlock + 8, y: tops[at]! + thick / 2, fill: this.colours.ink,
                    "text-anchor": isLeft ? "end" : "start", "dominant-baseline": "middle", "font-size": 12,
                }, text),
            ];
        });
    }
    picture(): SVGElement {
        const { rows, columns, title, row_label, column_label } = this.chart;
        return draw(
            "svg",
            { width: this.width, height: this.height, role: "img", "aria-label": `${title}: from ${row_label} on the left to ${column_label} on the right` },
            ...this.ribbons(),
            ...this.side(rows, this.rowSums, this.left, true),
            ...this.side(columns, this.columnSums, this.right, false),
        );
    }
}

export function flowOf(chart: MatrixChart, place: Place, width: number): HTMLElement {
    const scroller = document.createElement("div");
    scroller.className = "scroller";
    scroller.append(new Flow(chart, place, Math.max(width, 3 * kNames)).picture());
    return scroller;
}
