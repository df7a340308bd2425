// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a chart that is a table.
// Invariant: the rows are the document's; a row about a function can be followed to the flame graph, and found from there.
//    Where rows are known by thread, they are those of the chosen one.
// Must not know: what they hold.

import { kAllThreads } from "../data/chosen_thread";
import type { Table } from "../data/table";
import type { TableChart } from "../document";
import { make } from "../parts/dom";
import { tableElement } from "../parts/table_element";
import type { ChartView, Place } from "./chart_view";
import { threadControl } from "./thread_control";

class TableView implements ChartView {
    readonly element: HTMLElement;
    readonly controls: HTMLElement[];
    readonly keys = "";
    readonly knowsHeight = true;
    readonly follows = "nothing";
    readonly tellsThreads: boolean;
    constructor(
        private readonly chart: TableChart,
        private readonly place: Place,
    ) {
        const { chosen } = place;
        this.tellsThreads = chart.threads !== undefined;
        this.controls = this.tellsThreads ? threadControl(place) : [];
        this.element = make("div", {});
        this.threadChanged();
        if (chart.frames === undefined) return;
        chosen.listen((look) => {
            this.markChosen();
            const row = look === "table" ? this.element.querySelector<HTMLElement>("tr.chosen") : null;
            row?.scrollIntoView({ block: "center" });
            row?.querySelector<HTMLElement>("a.follow")?.focus({ preventScroll: true });
        });
    }
    draw(): void {}
    private get now(): Pick<TableChart, "rows" | "frames" | "parts"> {
        const { number } = this.place.thread;
        if (!this.tellsThreads || number === kAllThreads) return this.chart;
        return this.chart.threads?.[number] ?? { rows: [] };
    }
    threadChanged(): void {
        const { chosen, document } = this.place;
        const { frames, parts } = this.now;
        const hasGraph = document.sections.some(({ charts }) => charts.some(({ kind }) => kind === "flame"));
        const rows = tableElement(this.table(), this.chart.title, {
            ...(parts === undefined ? {} : { parts }),
            ...(frames === undefined || !hasGraph ? {} : { frames, follow: (frame) => chosen.choose(frame, "graph") }),
        });
        const nothing = make("p", { class: "empty" }, "Nothing of this thread.");
        this.element.replaceChildren(this.now.rows.length === 0 ? nothing : rows);
        this.markChosen();
    }
    private markChosen(): void {
        for (const row of this.element.querySelectorAll<HTMLElement>("tr[data-frame]"))
            row.classList.toggle("chosen", row.dataset["frame"] === String(this.place.chosen.frame));
    }
    table(): Table {
        return { columns: this.chart.columns, rows: this.now.rows };
    }
}

export function tableView(chart: TableChart, place: Place): ChartView {
    return new TableView(chart, place);
}
