// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what stands behind a chart, as a table; and as CSV (RFC 4180).
// Invariant: CSV holds plain numbers, never text made of them.
// Must not know: the chart.

import type { Unit } from "../document";

export type Cell = number | string | null;
export interface Table {
    columns: { name: string; unit: Unit }[];
    rows: Cell[][];
}

function field(cell: Cell): string {
    const text = cell === null ? "" : String(cell);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf(table: Table): string {
    const names = table.columns.map(({ name, unit }) => (unit === "text" || unit === name ? name : `${name} (${unit})`));
    return [names, ...table.rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");
}
