// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bars with names instead of buckets, lying, so that long names can be read.
// Invariant: the values are the window's; every bar's value stands beside it.
// Must not know: what is named.

import type { Table } from "../data/table";
import { shortened } from "../data/names";
import { allValues, barsInWindow } from "../data/slices";
import { format } from "../data/units";
import type { BarsChart } from "../document";
import { make } from "../parts/dom";
import { running } from "./bars";
import type { ChartView, Place } from "./chart_view";
import { Legend, nothingIn } from "./legend";
import { colourOf } from "./paint";

const kMostName = 44; // letters
const kNameShare = 0.3; // of the width, as charts.css has it
const kLetter = 8; // pixels, of a wide one

class LabelledBars implements ChartView {
    readonly element: HTMLElement;
    readonly controls: HTMLElement[] = [];
    readonly keys = "Arrow keys move from bar to bar.";
    readonly knowsHeight = false;
    readonly follows: "sums" | "nothing";
    private readonly labels: string[];
    private readonly legend: Legend;
    private readonly list = make("div", { class: "lying", role: "list", tabindex: "0" });
    private cursor = -1;
    private letters = kMostName;

    constructor(
        private readonly chart: BarsChart,
        private readonly place: Place,
    ) {
        this.labels = chart.labels ?? [];
        this.follows = chart.series.some((series) => series.slices !== undefined) ? "sums" : "nothing";
        this.legend = new Legend(
            chart.series.map(({ name }) => name),
            true,
            () => this.show(),
            nothingIn(place, (at) => allValues(chart.series[at]!)),
        );
        this.element = make("div", {}, this.legend.element, this.list);
        this.list.addEventListener("keydown", (event) => this.key(event));
    }

    private get values(): number[][] {
        return this.chart.series.map((series) => barsInWindow(series, this.labels.length, this.place.window));
    }
    draw(width: number): void {
        this.letters = Math.max(1, Math.min(kMostName, Math.floor((width * kNameShare) / kLetter)));
        this.show();
    }
    private show(): void {
        const { values } = this;
        const colours = this.place.theme.now;
        const shown = values.map((_, at) => at).filter((at) => !this.legend.hidden.has(at));
        const all = shown.flatMap((at) => values[at]!);
        const top = all.reduce((most, value) => Math.max(most, value), 0);
        const least = all.filter((value) => value > 0).reduce((low, value) => Math.min(low, value), Infinity) / 2;
        const width = (value: number): number => {
            if (value <= 0 || top === 0) return 0;
            return this.chart.y.scale === "log" && top > least
                ? Math.log(value / least) / Math.log(top / least)
                : value / top;
        };
        this.legend.draw(colours);
        this.list.replaceChildren(
            ...this.labels.map((label, row) => {
                const bars = shown.map((at) => {
                    const bar = make("div", { class: values.length > 1 ? `beam pattern-${at % 6}` : "beam" });
                    bar.style.width = `${width(values[at]![row]!) * 100}%`;
                    bar.style.color = colourOf(at, colours);
                    return make(
                        "div",
                        { class: "track" },
                        bar,
                        make("span", {}, format(values[at]![row], this.chart.y.unit)),
                    );
                });
                return make(
                    "div",
                    { class: "row", role: "listitem" },
                    make("div", { class: "name", title: label }, shortened(label, this.letters)),
                    make("div", {}, ...bars),
                );
            }),
        );
        this.mark();
    }
    private mark(): void {
        [...this.list.children].forEach((row, at) => row.classList.toggle("current", at === this.cursor));
    }
    private key(event: KeyboardEvent): void {
        const last = this.labels.length - 1;
        const next = {
            ArrowDown: this.cursor + 1,
            ArrowRight: this.cursor + 1,
            ArrowUp: this.cursor - 1,
            ArrowLeft: this.cursor - 1,
            Home: 0,
            End: last,
        }[event.key];
        if (next === undefined || last < 0) return;
        event.preventDefault();
        this.cursor = Math.max(0, Math.min(next, last));
        this.mark();
        this.list.children[this.cursor]?.scrollIntoView({ block: "nearest" });
        const values = this.chart.series.map(
            (series, at) => `${series.name}: ${format(this.values[at]![this.cursor], this.chart.y.unit)}`,
        );
        this.place.tell([this.labels[this.cursor], ...values].join("\n"));
    }

    table(): Table {
        const { values } = this;
        const { x, y, series, cumulative } = this.chart;
        const shares = cumulative ? values.map(running) : [];
        return {
            columns: [
                { name: x.label, unit: "text" },
                ...series.map(({ name }) => ({ name, unit: y.unit })),
                ...shares.map((_, at) => ({
                    name: `${series[at]!.name}, share up to here`,
                    unit: "fraction" as const,
                })),
            ],
            rows: this.labels.map((label, row) => [
                label,
                ...values.map((all) => all[row]!),
                ...shares.map((share) => share[row]!),
            ]),
        };
    }
}

export function labelledBarsView(chart: BarsChart, place: Place): ChartView {
    return new LabelledBars(chart, place);
}
