// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what every chart is to the page, and what the page is to every chart.
// Invariant: a chart draws from its document, the window and the theme alone, so that drawing again is always right.
// Must not know: any one chart.

import type { ChosenFunction } from "../data/chosen";
import type { ChosenThread } from "../data/chosen_thread";
import type { Table } from "../data/table";
import type { TimeWindow } from "../data/window";
import type { ReportDocument } from "../document";
import type { Theme } from "../parts/theme";

export interface ChartView {
    readonly element: HTMLElement;
    readonly controls: HTMLElement[];
    readonly keys: string; // what the keyboard does, for those who hear the page
    // Whether the window changes the values, the part of time that is shown, or nothing.
    readonly follows: "sums" | "time" | "nothing";
    readonly knowsHeight: boolean; // before it is drawn: what is below does not move when it is
    draw(width: number): void;
    table(): Table;
    readonly tellsThreads?: boolean; // it is about the chosen thread alone
    windowChanged?(): void;
    threadChanged?(): void;
    zoomedTimes?(): [number, number] | null;
}

export interface Place {
    readonly document: ReportDocument;
    readonly window: TimeWindow;
    readonly theme: Theme;
    readonly chosen: ChosenFunction;
    readonly thread: ChosenThread;
    readonly label: string;
    tell(text: string): void; // what the keyboard's cursor is at: shown below the chart, and read out
    hint(text: string, at: PointerEvent): void; // what the mouse is at
    unhint(): void;
    viewChanged(): void; // zoomed or moved
}

export const kZoomKeys =
    "Arrow keys move the cursor, plus and minus zoom, shift with arrow keys moves the view, 0 shows all.";
