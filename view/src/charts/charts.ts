// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the view for each kind of chart.
// Invariant: every kind of the document has one.
// Must not know: how any of them draws.

import type { Chart } from "../document";
import { barsView } from "./bars";
import type { ChartView, Place } from "./chart_view";
import { flameView } from "./flame";
import { heatView } from "./heat";
import { labelledBarsView } from "./labelled_bars";
import { matrixView } from "./matrix";
import { SeriesView } from "./series";
import { tableView } from "./table_chart";

const kSeriesHeight = 280;

export function viewOf(chart: Chart, place: Place): ChartView {
    switch (chart.kind) {
        case "series":
            return new SeriesView(chart, place, { height: kSeriesHeight, overview: false });
        case "bars":
            return chart.labels === undefined ? barsView(chart, place) : labelledBarsView(chart, place);
        case "heat":
            return heatView(chart, place);
        case "matrix":
            return matrixView(chart, place);
        case "flame":
            return flameView(chart, place);
        case "table":
            return tableView(chart, place);
    }
}

// Whether there is anything to show.
export function isEmpty(chart: Chart): boolean {
    switch (chart.kind) {
        case "series":
            return chart.at.length === 0 || chart.series.length === 0;
        case "bars":
            return chart.series.length === 0 || (chart.labels?.length ?? chart.edges.length - 1) <= 0;
        case "heat":
            return chart.columns === 0 || chart.rows === 0;
        case "matrix":
            return chart.rows.length === 0 || chart.columns.length === 0;
        case "flame":
            return chart.parents.length === 0 || chart.measures.length === 0;
        case "table":
            return chart.rows.length === 0;
    }
}
