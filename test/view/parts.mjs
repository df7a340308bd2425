// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how tests find a chart on the page, read its table and its CSV; and sums computed apart from the page.
// Invariant: nothing of the page's sources is used here.
// Must not know: which document is shown.

import { readFileSync } from "node:fs";

export function figure(page, title) {
    return page.locator("figure.chart").filter({ has: page.getByRole("heading", { name: title, level: 3 }) });
}

// The exact values of the table behind a chart, as text.
export async function table(page, title) {
    const chart = figure(page, title);
    const button = chart.getByRole("button", { name: `Table: ${title}` });
    if ((await button.count()) > 0 && (await button.getAttribute("aria-pressed")) === "false") await button.click();
    return chart.locator("table.data tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.dataset.value)));
}

export function fields(csv) {
    const rows = [[]];
    const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
    for (const [, quoted, plain, end] of csv.matchAll(pattern)) {
        rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
        if (end === "\r\n") rows.push([]);
    }
    if (rows.pop().length !== 0) throw new Error("the CSV does not end with a line's end");
    return rows;
}

export async function csv(page, title) {
    const [file] = await Promise.all([page.waitForEvent("download"), figure(page, title).getByRole("button", { name: `CSV: ${title}` }).click()]);
    return { name: file.suggestedFilename(), rows: fields(readFileSync(await file.path(), "utf8")) };
}

export function chartOf(document, title) {
    return document.sections.flatMap(({ charts }) => charts).find((chart) => chart.title === title);
}

// By BigInt, so that a sum that is not exact on the page is found out.
export function sliced(slices, first, last) {
    return slices[0].map((_, at) => String(slices.slice(first, last).reduce((sum, slice) => sum + BigInt(slice[at]), 0n)));
}

// Of a flame graph: what each function allocated itself and with what it called.
export function functionSums(document, chart, measure, first, last) {
    const own = chart.parents.map(() => 0n);
    for (const { nodes, values } of chart.measures[measure].slices.slice(first, last)) nodes.forEach((node, at) => (own[node] += BigInt(values[at])));
    const sums = new Map();
    own.forEach((value, start) => {
        if (value === 0n) return;
        const seen = new Set();
        for (let node = start; node !== 0; node = chart.parents[node]) {
            const frame = chart.frames[node];
            const sum = sums.get(frame) ?? { own: 0n, total: 0n };
            sums.set(frame, sum);
            if (node === start) sum.own += value;
            if (!seen.has(frame)) sum.total += value;
            seen.add(frame);
        }
    });
    return new Map([...sums].map(([frame, { own: here, total }]) => [document.frames[frame].name, [String(here), String(total)]]));
}

export async function windowKeys(page, part, ...keys) {
    const handle = page.locator(`.overview .handle.${part}`);
    await handle.focus();
    for (const key of keys) await page.keyboard.press(key);
}

export const kWholeRun = 60; // slices of the rich document
