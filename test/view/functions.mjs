// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: functions on the page: rows that open to their stacks, from a table to the flame graph and back, callers and callees,
//    a filter, and what was in use at a moment.
// Invariant: what is expected is written down here, for a tree of six calls.
// Must not know: how the page draws.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { empty } from "./fixture.mjs";
import { browser, closeClean, open, pageOf, written } from "./page.mjs";
import { figure, table, windowKeys } from "./parts.mjs";

const kGraph = "Call stacks";
const kRows = "Memory by function";
//            0     1       2       3       4        5
// all -> main -> load -> read -> load -> parse; main -> draw
const report = {
    ...empty(),
    title: "functions",
    slices: [0, 1, 2, 3, 4],
    overview: {
        kind: "series",
        title: "In use",
        x: { label: "time", unit: "time", scale: "linear" },
        y: { label: "bytes", unit: "bytes", scale: "linear" },
        stacked: false,
        step: false,
        at: [1, 2, 3, 4],
        series: [{ name: "bytes", values: [100, 67, 60, 0] }],
    },
    frames: [
        { name: "main", file: "/src/main.cpp", line: 0, module: "program" },
        { name: "load", file: "/src/load.cpp", line: 0, module: "program" },
        { name: "read", file: "/src/read.cpp", line: 0, module: "libread.so" },
        { name: "parse", file: "/src/parse.cpp", line: 0, module: "program" },
        { name: "draw", file: "/src/draw.cpp", line: 0, module: "program" },
    ],
    sections: [
        {
            id: "origins",
            question: "Where does the memory come from?",
            answer: "From here and there.",
            charts: [
                {
                    kind: "flame",
                    title: kGraph,
                    parents: [0, 0, 1, 2, 3, 4, 1],
                    frames: [-1, 0, 1, 2, 1, 3, 4],
                    measures: [
                        { name: "bytes at the peak", unit: "bytes", values: [0, 1, 2, 4, 8, 16, 32] },
                        {
                            name: "bytes in use",
                            unit: "bytes",
                            running: true,
                            slices: [
                                { nodes: [5], values: [100] },
                                { nodes: [5, 6], values: [-40, 7] },
                                { nodes: [6], values: [-7] },
                                { nodes: [5], values: [-60] },
                            ],
                        },
                    ],
                },
                {
                    kind: "table",
                    title: kRows,
                    columns: [
                        { name: "function", unit: "text" },
                        { name: "bytes", unit: "bytes" },
                    ],
                    rows: [
                        ["draw (draw.cpp)", 32],
                        ["parse (parse.cpp)", 16],
                        ["(2 others)", 15],
                    ],
                    frames: [4, 3, -1],
                    parts: [
                        [
                            ["draw (draw.cpp:1) < main", 30],
                            ["draw (draw.cpp:2) < main", 2],
                        ],
                        [["parse (parse.cpp:5) < load", 16]],
                        [],
                    ],
                },
            ],
        },
    ],
};
let running, opened, page;
before(async () => {
    running = await browser();
});
beforeEach(async () => {
    if (opened !== undefined) await closeClean(opened);
    opened = await open(running, `file://${written("functions", pageOf(report))}`);
    page = opened.page;
});
after(async () => {
    await closeClean(opened);
    await running.close();
});

const plain = (text) => text.replace(/\s/gu, " "); // a unit does not leave its number
const rows = () => figure(page, kRows).locator("tbody tr");
const card = () => page.getByRole("region", { name: "The chosen function" });
const lines = async (title) => {
    const heading = page.getByRole("heading", { name: title, exact: true });
    return (await card().locator("div", { has: heading }).last().locator("li").allTextContents()).map(plain);
};
const functions = async () => (await table(page, kGraph)).map(([name, own, total]) => [name, own, total]);

test("a row opens to its stacks and closes, also when sorted", async () => {
    assert.equal(await rows().count(), 3);
    await rows().first().getByRole("button").click();
    assert.deepEqual(await rows().locator("td:first-child").allTextContents(), [
        "▾draw (draw.cpp)",
        "draw (draw.cpp:1) < main",
        "draw (draw.cpp:2) < main",
        "▸parse (parse.cpp)",
        "▸(2 others)",
    ]);
    await figure(page, kRows).getByRole("button", { name: "bytes" }).click();
    await figure(page, kRows).getByRole("button", { name: "bytes" }).click();
    const sums = await rows().locator("td:nth-child(2)").allTextContents();
    assert.deepEqual(sums.map(plain), ["15 B", "16 B", "32 B", "30 B", "2 B"]);
    await rows().nth(2).getByRole("button").click();
    assert.equal(await rows().count(), 3);
    assert.equal(await rows().first().locator(".opens").isDisabled(), true);
});

test("a row's arrow stands before its name, also on a phone and where the name has several lines", async () => {
    const gaps = () =>
        rows()
            .locator("td:first-child:has(.opens:enabled)")
            .evaluateAll((cells) =>
                cells.map((cell) => {
                    const name = document.createRange();
                    name.selectNodeContents(cell.querySelector(".follow"));
                    const [arrow, [line]] = [
                        cell.querySelector(".opens").getBoundingClientRect(),
                        name.getClientRects(),
                    ];
                    return {
                        beside: line.left - arrow.right,
                        above: Math.abs((line.top + line.bottom - arrow.top - arrow.bottom) / 2),
                    };
                }),
            );
    await page
        .locator(".follow")
        .first()
        .evaluate((link) => (link.textContent = "a_long_name_".repeat(9)));
    for (const width of [390, 1400]) {
        await page.setViewportSize({ width, height: 900 });
        for (const { beside, above } of await gaps())
            assert.ok(Math.abs(beside) < 6 && above < 6, `${width}: ${beside} ${above}`);
    }
});

test("from a row to the graph and back", async () => {
    await rows().nth(1).getByRole("link").click();
    assert.match(
        plain(await card().textContent()),
        /^parse.*program.*bytes at the peak: 16 B \(25\.4 %\) in it and what it calls, 16 B right here/,
    );
    await card().getByRole("button", { name: "To its row" }).click();
    assert.equal(await rows().nth(1).getAttribute("class"), "chosen");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "parse (parse.cpp)");
    await card().getByRole("button", { name: "Close" }).click();
    assert.equal(await card().count(), 0);
    assert.equal(await page.locator("tr.chosen").count(), 0);
});

test("a function that calls itself counts once", async () => {
    await rows().nth(1).getByRole("link").click();
    await card().getByRole("link", { name: "load" }).click();
    assert.match(
        plain(await card().textContent()),
        /bytes at the peak: 30 B \(47\.6 %\) in it and what it calls, 10 B right here/,
    );
    assert.deepEqual(await lines("Called by"), ["30 B main"]);
    assert.deepEqual(await lines("Calls"), ["16 B parse", "4 B read"]);
});

test("only what is found: by function, file or module", async () => {
    await figure(page, kGraph).getByRole("searchbox").fill("libread");
    await figure(page, kGraph).getByRole("button", { name: "Only what is found" }).click();
    assert.deepEqual(await functions(), [
        ["parse", "16", "16"],
        ["load", "8", "28"],
        ["read", "4", "28"],
        ["main", "0", "28"],
    ]);
    await figure(page, kGraph).getByRole("searchbox").fill("^draw$");
    assert.deepEqual(await functions(), [
        ["draw", "32", "32"],
        ["main", "0", "32"],
    ]);
});

test("in use at the end of the window, by keys and by a press on the time line", async () => {
    await figure(page, kGraph).locator("label").filter({ hasText: "bytes in use" }).click();
    assert.deepEqual(await functions(), []);
    await windowKeys(page, "to", "ArrowLeft", "ArrowLeft");
    assert.deepEqual(await functions(), [
        ["parse", "60", "60"],
        ["draw", "7", "7"],
        ["main", "0", "67"],
        ["load", "0", "60"],
        ["read", "0", "60"],
    ]);
    await windowKeys(page, "both", "Escape");
    const box = await page.locator(".brush").first().boundingBox();
    // The second of four slices: what came before it counts, too.
    await page.mouse.click(box.x + box.width * 0.4, box.y + box.height / 2);
    assert.deepEqual((await functions()).slice(0, 2), [
        ["parse", "60", "60"],
        ["draw", "7", "7"],
    ]);
});
