// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a chart that is a table.
// Invariant: the rows are the document's.
// Must not know: what they hold.

import type { Table } from "../data/table";
import type { TableChart } from "../document";
import { make } from "../parts/dom";
import { tableElement } from "../parts/table_element";
import type { ChartView } from "./chart_view";

class TableView implements ChartView {
    readonly element: HTMLElement;
    readonly controls: HTMLElement[] = [];
    readonly keys = "";
    readonly knowsHeight = true;
    readonly follows = "nothing";
    constructor(private readonly chart: TableChart) {
        this.element = make("div", {}, tableElement(this.table(), chart.title));
    }
    draw(): void {}
    table(): Table {
        return { columns: this.chart.columns, rows: this.chart.rows };
    }
}

export function tableView(chart: TableChart): ChartView {
    return new TableView(chart);
}
