// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a chart that is a table.
// Invariant: the rows are the document's; a row about a function can be followed to the flame graph, and found from there.
// Must not know: what they hold.

import type { Table } from "../data/table";
import type { TableChart } from "../document";
import { make } from "../parts/dom";
import { tableElement } from "../parts/table_element";
import type { ChartView, Place } from "./chart_view";

class TableView implements ChartView {
    readonly element: HTMLElement;
    readonly controls: HTMLElement[] = [];
    readonly keys = "";
    readonly knowsHeight = true;
    readonly follows = "nothing";
    constructor(
        private readonly chart: TableChart,
        place: Place,
    ) {
        const { chosen } = place;
        const { frames, parts } = chart;
        const hasGraph = place.document.sections.some(({ charts }) => charts.some(({ kind }) => kind === "flame"));
        this.element = make(
            "div",
            {},
            tableElement(this.table(), chart.title, {
                ...(parts === undefined ? {} : { parts }),
                ...(frames === undefined || !hasGraph
                    ? {}
                    : { frames, follow: (frame) => chosen.choose(frame, "graph") }),
            }),
        );
        if (frames === undefined) return;
        chosen.listen((look) => {
            for (const row of this.element.querySelectorAll<HTMLElement>("tr[data-frame]"))
                row.classList.toggle("chosen", row.dataset["frame"] === String(chosen.frame));
            const row = look === "table" ? this.element.querySelector<HTMLElement>("tr.chosen") : null;
            row?.scrollIntoView({ block: "center" });
            row?.querySelector<HTMLElement>("a.follow")?.focus({ preventScroll: true });
        });
    }
    draw(): void {}
    table(): Table {
        return { columns: this.chart.columns, rows: this.chart.rows };
    }
}

export function tableView(chart: TableChart, place: Place): ChartView {
    return new TableView(chart, place);
}
