// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the keys and the mouse do on the page of a report.
// Invariant: says what gestures.ts, brush.ts and flame.ts do.
// Must not know: which chart is on the page.

export const kKeys: [string, string][] = [
    ["Tab", "to the next chart, button or edge of the window"],
    ["Arrow keys", "move the cursor in a chart; its value is told below"],
    ["Home, End", "to the first and the last"],
    ["+ and −", "zoom to the cursor"],
    ["Shift + arrow keys", "move what is shown"],
    ["0 or Escape", "show all again"],
    ["Enter", "in a flame graph: zoom to the call"],
    ["Arrow keys on the window", "move its edges, or all of it, by one slice; with Shift by ten"],
    ["Mouse: drag", "zoom to what is dragged over; in the overview: select the window"],
    ["Mouse: Shift + drag", "move what is shown"],
    ["Mouse: Ctrl + wheel", "zoom"],
    ["Mouse: double click", "show all again"],
];
