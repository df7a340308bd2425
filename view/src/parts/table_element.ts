// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a table on the page; a press on a column's name sorts by it.
// Invariant: each cell's exact value is at hand as its title and in data-value.
// Must not know: what the table is about.

import { shortened } from "../data/names";
import type { Cell, Table } from "../data/table";
import { exact } from "../data/units";
import { make } from "./dom";

const kMostText = 120; // letters in a cell
const kMost = 500; // rows on the page; CSV has them all

function compare(a: Cell | undefined, b: Cell | undefined): number {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number" || typeof b === "number") return typeof a === "number" ? -1 : 1;
    return String(a ?? "").localeCompare(String(b ?? ""), "en");
}

export function tableElement(table: Table, label: string): HTMLElement {
    let sorted: { column: number; up: boolean } | null = null;
    const body = make("tbody", {});
    const heads = table.columns.map(({ name, unit }, column) => {
        const button = make("button", { type: "button", click: () => sort(column) }, name);
        return make("th", { scope: "col", class: unit === "text" ? "text" : "number" }, button);
    });
    const fill = (): void => {
        const rows = [...table.rows];
        if (sorted !== null) {
            const { column, up } = sorted;
            rows.sort((a, b) => compare(a[column], b[column]) * (up ? 1 : -1));
        }
        body.replaceChildren(
            ...rows.slice(0, kMost).map((row) =>
                make(
                    "tr",
                    {},
                    ...row.map((cell, column) => {
                        const { unit } = table.columns[column] ?? { unit: "text" as const };
                        const value = cell === null ? "" : String(cell);
                        return make(
                            "td",
                            {
                                class: unit === "text" ? "text" : "number",
                                "data-value": value,
                                "data-column": table.columns[column]?.name ?? "",
                                title: value,
                            },
                            unit === "text" ? shortened(exact(cell, unit), kMostText) : exact(cell, unit),
                        );
                    }),
                ),
            ),
        );
    };
    const sort = (column: number): void => {
        sorted = { column, up: sorted?.column === column ? !sorted.up : table.columns[column]?.unit === "text" };
        heads.forEach((head, at) => {
            if (at === column) head.setAttribute("aria-sort", sorted?.up === true ? "ascending" : "descending");
            else head.removeAttribute("aria-sort");
        });
        fill();
    };
    fill();
    const element = make(
        "table",
        { class: "data", "aria-label": label },
        make("thead", {}, make("tr", {}, ...heads)),
        body,
    );
    const scroller = make("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": label }, element);
    const note =
        table.rows.length > kMost
            ? [make("p", { class: "small" }, `The first ${kMost} of ${table.rows.length} rows; the CSV has them all.`)]
            : [];
    return make("div", { class: "table" }, scroller, ...note);
}
