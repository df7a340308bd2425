// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the data of a report, as the command writes it and the page shows it.
// Invariant: numbers are plain (bytes, seconds, counts); the page makes text of them by their unit. A section's answer is
//            whole sentences, computed by the command from the data: `granary summary` prints the same.
// Must not know: how a trace lies in a file; what a chart looks like.

// "time" is seconds since the recording began: a chart over it follows the window that the reader selects. "seconds" are
// durations (lifetimes, waits) and do not.
// "growth" is of what was before, as a fraction: all of it is no limit.
export type Unit =
    | "time"
    | "bytes"
    | "seconds"
    | "count"
    | "events"
    | "per second"
    | "fraction"
    | "growth"
    | "address"
    | "text";
export interface Axis {
    label: string;
    unit: Unit;
    scale: "linear" | "log";
}

// Time is cut into equal slices: slices.length - 1 of them. A chart that has its values by slice is summed over the slices
// of the window that the reader selects; all others show the whole and mark the window, or zoom to it (series over time).
export interface ReportDocument {
    version: 1;
    title: string; // the program
    facts: [string, string][]; // arguments, allocator, machine, when, how it was recorded: what the head of the page tells
    notes: string[]; // what the reader must know first: damage, lost events
    story: string[]; // the sentences that matter most, three of them: each stands in some section's answer, too
    overview: SeriesChart | null; // over time, at the head of the page, where the window is selected: live and resident bytes
    slices: number[]; // their edges, in time
    marks: { time: number; text: string }[];
    frames: Frame[]; // of all call stacks, by number
    threads?: string[]; // that charts tell apart, the last may stand for all others; none: no chart does
    sections: Section[];
    window?: [number, number]; // the document is of this time alone, in seconds; none: of the whole run
    compared?: string[]; // names of what is laid over each other (replay, diff)
}

export interface Frame {
    name: string; // of the function, or an address
    file: string; // "" where it is not known
    line: number;
    module: string;
    whole_name?: string; // with the arguments of templates; none: the name is whole
    source?: { line: number; text: string; calls?: boolean }[]; // of its file: the lines from which it calls, and some around
}

export interface Section {
    id: string; // of the section in the page's address, and of its CSV
    question: string;
    answer: string;
    charts: Chart[];
}

export type Chart = SeriesChart | BarsChart | HeatChart | MatrixChart | FlameChart | TableChart;

// Lines or areas over a common x.
export interface SeriesChart {
    kind: "series";
    title: string;
    x: Axis;
    y: Axis;
    stacked: boolean;
    step: boolean;
    at: number[];
    series: { name: string; values: (number | null)[] }[];
}

// Bars for buckets: edges.length - 1 of them, between edges, shown equally wide; or with labels, and then edges is empty.
export interface BarsChart {
    kind: "bars";
    title: string;
    x: Axis;
    y: Axis;
    cumulative: boolean; // a line of the share up to each bucket is shown, too
    edges: number[];
    labels?: string[];
    // values, or by slice: values[slice][bucket]; of one chart, all or none by slice. More than two over buckets are parts of
    // one whole, and are shown upon each other.
    series: { name: string; values?: number[]; slices?: number[][] }[];
    per_doubling?: boolean; // a bar is as high as a doubling of x would be: buckets of unequal width make no steps
}

// A picture of cells; 0 is nothing, 1 to 255 from low to high, by steps of the scale. Rows from below. With all its edges
// given, an axis shows its cells equally wide, whatever they span, and is read off at the edges.
export interface HeatChart {
    kind: "heat";
    title: string;
    x: Axis;
    y: Axis;
    columns: number;
    rows: number;
    x_edges: [number, number] | number[]; // the ends of an even axis, or columns + 1 edges
    y_edges: [number, number] | number[]; // for an axis with gaps (addresses): rows + 1
    y_gaps?: number[]; // the rows that stand for what lies between pieces of the axis, all of it: shown as a break
    cells: string; // columns * rows bytes, base64, row after row
    low: number; // what 1 and 255 stand for
    high: number;
    scale: Axis; // of the cells
    beside?: { name: string; cells: string }[]; // other pictures over the same axes: a switch shows them (resident pages)
}

export interface MatrixChart {
    kind: "matrix";
    title: string;
    rows: string[];
    columns: string[];
    row_label: string;
    column_label: string;
    unit: Unit;
    values: number[][];
}

// Values of some nodes. With threads, each value is that of one of the document's threads, and a node may stand here once for
// each.
export interface FlamePart {
    nodes: number[];
    values: number[];
    threads?: number[];
}

// A tree of calls. Node 0 is the root; a node's parent comes before it. A measure's values are those of the node itself
// (what was allocated right there), so that sums over children are the page's.
export interface FlameChart {
    kind: "flame";
    title: string;
    parents: number[];
    frames: number[]; // of each node; of the root -1
    measures: {
        name: string;
        unit: Unit;
        values?: number[];
        slices?: FlamePart[]; // by slice
        by_thread?: FlamePart; // the values again, where threads are told apart
        running?: boolean; // slices are changes: what was so at the end of one is the sum of it and all before
    }[];
}

export interface TableChart {
    kind: "table";
    title: string;
    columns: { name: string; unit: Unit }[];
    rows: (number | string)[][];
    frames?: number[]; // of each row the function that it is about; -1: none
    parts?: (number | string)[][][]; // of each row those that it is the sum of
    threads?: Pick<TableChart, "rows" | "frames" | "parts">[]; // the same of each of the document's threads alone
}
