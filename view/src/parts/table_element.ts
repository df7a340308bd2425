// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a table on the page; a press on a column's name sorts by it, one on a row's arrow shows what it is the sum of, and one
//    on a function follows it.
// Invariant: each cell's exact value is at hand as its title and in data-value.
// Must not know: what the table is about.

import { shortened } from "../data/names";
import type { Cell, Table } from "../data/table";
import { exact } from "../data/units";
import { leading, make } from "./dom";

const kMostText = 120; // letters in a cell
const kMost = 500; // rows on the page; CSV has them all

function compare(a: Cell | undefined, b: Cell | undefined): number {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number" || typeof b === "number") return typeof a === "number" ? -1 : 1;
    return String(a ?? "").localeCompare(String(b ?? ""), "en");
}

// What rows have besides their cells, by their numbers in the table.
export interface Rows {
    parts?: Cell[][][];
    frames?: number[]; // -1: the row is about no function
    follow?: (frame: number) => void;
}

export function tableElement(table: Table, label: string, more: Rows = {}): HTMLElement {
    const open = new Set<number>();
    let sorted: { column: number; up: boolean } | null = null;
    const body = make("tbody", {});
    const heads = table.columns.map(({ name, unit }, column) => {
        const button = make("button", { type: "button", click: () => sort(column) }, name);
        return make("th", { scope: "col", class: unit === "text" ? "text" : "number" }, button);
    });
    const cellOf = (cell: Cell, column: number): HTMLElement => {
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
    };
    const rowOf = (at: number): HTMLElement[] => {
        const cells = table.rows[at]!.map(cellOf);
        const parts = more.parts?.[at] ?? [];
        const frame = more.frames?.[at] ?? -1;
        const [first] = cells;
        const { follow } = more;
        if (follow !== undefined && frame >= 0)
            first?.replaceChildren(
                make("a", { class: "follow", href: "#", click: leading(() => follow(frame)) }, first.textContent ?? ""),
            );
        if (more.parts !== undefined) {
            const isOpen = open.has(at);
            const arrow = make(
                "button",
                {
                    type: "button",
                    class: "opens",
                    "aria-expanded": String(isOpen),
                    "aria-label": "Stacks of this row",
                    disabled: parts.length === 0,
                    click: () => {
                        if (isOpen) open.delete(at);
                        else open.add(at);
                        fill();
                        body.querySelector<HTMLElement>(`tr[data-row="${at}"] .opens`)?.focus();
                    },
                },
                isOpen ? "▾" : "▸",
            );
            first?.replaceChildren(make("span", {}, arrow, ...first.childNodes));
        }
        const row = make(
            "tr",
            { "data-row": String(at), ...(frame < 0 ? {} : { "data-frame": String(frame) }) },
            ...cells,
        );
        return open.has(at) ? [row, ...parts.map((part) => make("tr", { class: "part" }, ...part.map(cellOf)))] : [row];
    };
    const fill = (): void => {
        const rows = [...table.rows.keys()];
        if (sorted !== null) {
            const { column, up } = sorted;
            rows.sort((a, b) => compare(table.rows[a]![column], table.rows[b]![column]) * (up ? 1 : -1));
        }
        body.replaceChildren(...rows.slice(0, kMost).flatMap(rowOf));
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
