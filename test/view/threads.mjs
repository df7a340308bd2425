// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one thread of the page: the graph and the table of it alone, with the window too; and source lines of a function.
// Invariant: what is expected is written down here, for a tree of three calls and two threads.
// Must not know: how the page draws.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { empty } from "./fixture.mjs";
import { browser, closeClean, open, pageOf, written } from "./page.mjs";
import { csv, figure, table, windowKeys } from "./parts.mjs";

const kGraph = "Call stacks";
const kRows = "Memory by function";
// all -> main -> load; main -> draw
const report = {
    ...empty(),
    title: "threads",
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
        {
            name: "main",
            file: "/src/main.cpp",
            line: 0,
            module: "program",
            source: [
                { line: 7, text: "int main() {" },
                { line: 8, text: "    load(</script>);", calls: true },
                { line: 31, text: "    draw();", calls: true },
            ],
        },
        { name: "load", file: "/src/load.cpp", line: 0, module: "program" },
        { name: "draw", file: "/src/draw.cpp", line: 0, module: "program" },
    ],
    threads: ["main (0)", "worker (1)", "3 other threads"],
    sections: [
        {
            id: "origins",
            question: "Where does the memory come from?",
            answer: "From here and there.",
            charts: [
                {
                    kind: "flame",
                    title: kGraph,
                    parents: [0, 0, 1, 1],
                    frames: [-1, 0, 1, 2],
                    measures: [
                        {
                            name: "bytes at the peak",
                            unit: "bytes",
                            values: [0, 1, 5, 32],
                            by_thread: { nodes: [1, 2, 2, 3], values: [1, 2, 3, 32], threads: [0, 0, 1, 1] },
                        },
                        {
                            name: "bytes allocated",
                            unit: "bytes",
                            slices: [
                                { nodes: [2, 2], values: [100, 11], threads: [0, 1] },
                                { nodes: [2, 3], values: [40, 7], threads: [1, 1] },
                                { nodes: [], values: [], threads: [] },
                                { nodes: [3], values: [9], threads: [1] },
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
                        ["load (load.cpp)", 5],
                    ],
                    frames: [2, 1],
                    parts: [[["draw < main", 32]], [["load < main", 5]]],
                    threads: [
                        { rows: [["load (load.cpp)", 2]], frames: [1], parts: [[["load < main", 2]]] },
                        {
                            rows: [
                                ["draw (draw.cpp)", 32],
                                ["load (load.cpp)", 3],
                            ],
                            frames: [2, 1],
                            parts: [[["draw < main", 32]], [["load < main", 3]]],
                        },
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
    opened = await open(running, `file://${written("threads", pageOf(report))}`);
    page = opened.page;
});
after(async () => {
    await closeClean(opened);
    await running.close();
});

const list = (title) => figure(page, title).getByRole("combobox", { name: "Thread" });
const functions = async () => (await table(page, kGraph)).map(([name, own, total]) => [name, own, total]);
const measure = (name) => figure(page, kGraph).locator("label").filter({ hasText: name }).click();
const scope = (title) => figure(page, title).locator(".scope").textContent();

test("a thread chosen at the graph is that of the table, too, and all threads come back", async () => {
    const whole = await functions();
    await list(kGraph).selectOption("worker (1)");
    assert.deepEqual(await functions(), [
        ["draw", "32", "32"],
        ["load", "3", "3"],
        ["main", "0", "35"],
    ]);
    assert.equal(await list(kRows).evaluate((one) => one.selectedOptions[0].text), "worker (1)");
    assert.deepEqual(await table(page, kRows), [
        ["draw (draw.cpp)", "32"],
        ["load (load.cpp)", "3"],
    ]);
    assert.equal(await scope(kGraph), "worker (1)");
    assert.equal(await scope(kRows), "worker (1)");
    await list(kRows).selectOption("All threads");
    assert.deepEqual(await functions(), whole);
    assert.deepEqual(whole[0], ["draw", "32", "32"]);
    assert.equal(await scope(kGraph), "");
});

test("a thread in a window of time", async () => {
    await measure("bytes allocated");
    await list(kGraph).selectOption("worker (1)");
    assert.deepEqual(await functions(), [
        ["load", "51", "51"],
        ["draw", "16", "16"],
        ["main", "0", "67"],
    ]);
    await windowKeys(page, "from", "ArrowRight");
    assert.deepEqual(await functions(), [
        ["load", "40", "40"],
        ["draw", "16", "16"],
        ["main", "0", "56"],
    ]);
    assert.match(await scope(kGraph), /^worker \(1\), 1\ss – 4\ss$/u);
});

test("the CSV is of the thread, and is called so; rows open to its stacks", async () => {
    await list(kRows).selectOption("main (0)");
    const saved = await csv(page, kRows);
    assert.equal(saved.name, "threads-origins-2-main-0.csv");
    assert.deepEqual(saved.rows.slice(1), [["load (load.cpp)", "2"]]);
    await figure(page, kRows).locator(".opens").click();
    assert.deepEqual(await figure(page, kRows).locator("tr.part td").first().textContent(), "load < main");
});

test("a thread without rows says so", async () => {
    await list(kRows).selectOption("3 other threads");
    assert.equal(await figure(page, kRows).locator(".empty").textContent(), "Nothing of this thread.");
    assert.deepEqual(await functions(), []);
});

test("the chosen function shows its source lines, and which of them call", async () => {
    await figure(page, kGraph).locator(".plot").focus();
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    const lines = page.locator(".source li");
    assert.deepEqual(await lines.allTextContents(), ["7int main() {", "8    load(</script>);", "…", "31    draw();"]);
    assert.deepEqual(await page.locator(".source .calls code").allTextContents(), [
        "    load(</script>);",
        "    draw();",
    ]);
});
