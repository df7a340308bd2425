// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is too much for its place: threads, names of functions, series of nothing; and buckets of unequal width.
// Invariant: whatever is cut, or left out of a picture, is whole in the table, in the CSV and where the mouse rests.
// Must not know: how it is cut.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { empty } from "./fixture.mjs";
import { browser, closeClean, open, pageOf, written } from "./page.mjs";
import { csv, figure, table } from "./parts.mjs";

const kThreads = 64;
const kName =
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_construct<char const*>" +
    "(char const*, char const*, std::forward_iterator_tag) (basic_string.tcc:219) < " +
    "Parser::statement(Lexer<std::vector<Token> >&, int) (parser.cpp:12)";
const threads = Array.from({ length: kThreads }, (_, at) => `worker-of-the-pool (${at})`);
const values = threads.map((_, row) => threads.map((_name, column) => (row * column) % 7));
const time = { label: "time", unit: "time", scale: "linear" };
const bytes = { label: "bytes", unit: "bytes", scale: "linear" };
const at = [1, 2, 3, 4];
const document_ = {
    ...empty(),
    title: "crowded",
    slices: [0, 2, 4],
    sections: [
        {
            id: "one",
            question: "Crowded?",
            answer: "Yes.",
            charts: [
                {
                    kind: "matrix",
                    title: "Who frees whose blocks",
                    rows: threads,
                    columns: threads,
                    row_label: "allocated by",
                    column_label: "freed by",
                    unit: "count",
                    values,
                },
                {
                    kind: "series",
                    title: "Bytes in use, and resident",
                    x: time,
                    y: bytes,
                    stacked: false,
                    step: false,
                    at,
                    series: [
                        { name: "in use", values: [1, 2, 3, 4] },
                        { name: "returned lazily", values: [0, 0, null, 0] },
                        { name: "resident", values: [0, 0, 0, 9] },
                    ],
                },
                {
                    kind: "series",
                    title: "Nothing at all",
                    x: time,
                    y: bytes,
                    stacked: false,
                    step: false,
                    at,
                    series: ["one", "two"].map((name) => ({ name, values: [0, 0, 0, 0] })),
                },
                {
                    kind: "bars",
                    title: "Timed calls by duration",
                    x: { label: "duration", unit: "seconds", scale: "linear" },
                    y: { label: "calls", unit: "count", scale: "linear" },
                    cumulative: false,
                    edges: [1, 2],
                    series: ["malloc", "free", "realloc"].map((name) => ({ name, values: [10] })),
                },
                {
                    kind: "bars",
                    title: "Call sites",
                    x: { label: "call site", unit: "text", scale: "linear" },
                    y: bytes,
                    cumulative: false,
                    edges: [],
                    labels: [kName, "main"],
                    series: [{ name: "bytes", values: [1000, 10] }],
                },
                {
                    kind: "table",
                    title: "By call site",
                    columns: [
                        { name: "call site", unit: "text" },
                        { name: "share", unit: "fraction" },
                        { name: "growth", unit: "growth" },
                    ],
                    rows: [
                        [kName, 0.0004, 1.07],
                        ["main", 0.9996, 0.9996],
                        ["none", 0, -0.9999],
                        ["less", -0.0004, -0.0004],
                    ],
                },
                {
                    kind: "bars",
                    title: "Blocks by lifetime",
                    x: { label: "lifetime", unit: "count", scale: "log" },
                    y: { label: "blocks, for a doubling", unit: "count", scale: "linear" },
                    cumulative: false,
                    per_doubling: true,
                    edges: [4, 5, 6, 7, 8, 16],
                    // As many as a doubling has 1000.
                    series: [{ name: "blocks", values: [321.928, 263.034, 222.392, 192.645, 1000] }],
                },
            ],
        },
    ],
};
let running, opened, page;
before(async () => {
    running = await browser();
    opened = await open(running, `file://${written("crowded", pageOf(document_))}`);
    page = opened.page;
});
after(async () => {
    await closeClean(opened);
    await running.close();
});

test("a matrix of many threads fits its place, and each value is told", async () => {
    const chart = figure(page, "Who frees whose blocks");
    for (const width of [1280, 1000]) {
        await page.setViewportSize({ width, height: 900 });
        await page.waitForFunction(() => {
            const room = document.querySelector(".matrix").parentElement;
            return room.scrollWidth <= room.clientWidth;
        });
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await chart.locator("td").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    assert.match(
        await chart.locator(".told").textContent(),
        /^allocated by worker-of-the-pool \(1\), freed by worker-of-the-pool \(1\): 1, /,
    );
    assert.deepEqual(
        await chart.locator("td").evaluateAll((cells) => cells.map((cell) => Number(cell.dataset.value))),
        values.flat(),
    );
    assert.deepEqual(
        (await csv(page, "Who frees whose blocks")).rows.slice(1).map((row) => row.slice(1).map(Number)),
        values,
    );
    const names = await chart
        .locator("thead th[scope='col']")
        .evaluateAll((heads) => heads.map((head) => head.getAttribute("title")));
    assert.deepEqual(names, threads);
});

test("the colours of a matrix have a scale", async () => {
    const scale = figure(page, "Who frees whose blocks").locator(".scale");
    assert.equal(await scale.textContent(), "rows: allocated by, columns: freed by");
    assert.ok((await scale.locator("canvas").boundingBox()).width > 200);
});

test("more than two series of bars lie upon each other", async () => {
    const chart = figure(page, "Timed calls by duration");
    await chart.scrollIntoViewIfNeeded();
    const seen = await chart.locator(".plot canvas").evaluate(async (canvas) => {
        while (canvas.width <= 300) await new Promise((done) => requestAnimationFrame(done));
        const { data } = canvas.getContext("2d").getImageData(Math.round(canvas.width / 4), 0, 8, canvas.height);
        const colours = new Set();
        for (let at = 0; at < data.length; at += 4) {
            const [red, green, blue] = data.slice(at, at + 3);
            if (blue > red + 30 && blue > green + 10) colours.add("blue");
            if (red > blue + 30 && red > green + 10) colours.add("orange");
            if (green > red + 30 && green > blue + 10) colours.add("green");
        }
        return [...colours].sort();
    });
    assert.deepEqual(seen, ["blue", "green", "orange"]);
});

test("what is nothing all along is not in the legend, but in the table", async () => {
    const title = "Bytes in use, and resident";
    assert.deepEqual(await figure(page, title).locator(".legend button").allTextContents(), ["in use", "resident"]);
    await figure(page, title).locator(".plot").focus();
    await page.keyboard.press("End");
    assert.equal(
        await figure(page, title).locator(".told").textContent(),
        "4\u00a0s · in use: 4\u00a0B · resident: 9\u00a0B",
    );
    assert.deepEqual((await csv(page, title)).rows[0], [
        "time",
        "in use (bytes)",
        "returned lazily (bytes)",
        "resident (bytes)",
    ]);
    assert.deepEqual(await figure(page, "Nothing at all").locator(".legend button").allTextContents(), ["one", "two"]);
});

test("a long name is cut in its middle, and whole where the mouse rests", async () => {
    const bar = figure(page, "Call sites").locator(".lying .name").first();
    const shown = await bar.textContent();
    assert.ok(shown.length <= 44 && shown.includes("…"), shown);
    assert.equal(await bar.getAttribute("title"), kName);
    assert.equal((await csv(page, "Call sites")).rows[1][0], kName);
    const cell = figure(page, "By call site").locator("tbody td").first();
    const text = await cell.textContent();
    assert.ok(text.length <= 120 && text.startsWith("std::__cxx11::basic_string<…>::"), text);
    assert.ok(text.includes(" (basic_string.tcc:219) < Parser::statement("), text);
    assert.equal(await cell.getAttribute("title"), kName);
    assert.deepEqual(
        (await table(page, "By call site")).map(([name]) => name),
        [kName, "main", "none", "less"],
    );
});

test("shares at the ends are told in one way", async () => {
    assert.deepEqual(await figure(page, "By call site").locator("tbody td:nth-child(2)").allTextContents(), [
        "<\u00a00.1\u00a0%",
        ">\u00a099.9\u00a0%",
        "0\u00a0%",
        ">\u00a0-0.1\u00a0%",
    ]);
    assert.deepEqual(await figure(page, "By call site").locator("tbody td:nth-child(3)").allTextContents(), [
        "107\u00a0%",
        "100\u00a0%",
        "-100\u00a0%",
        ">\u00a0-0.1\u00a0%",
    ]);
});

test("bars over buckets of unequal width are as high as their doublings, and tell what is in them", async () => {
    const title = "Blocks by lifetime";
    const plot = figure(page, title).locator(".plot");
    await plot.scrollIntoViewIfNeeded();
    await page.waitForFunction((name) => {
        const chart = [...document.querySelectorAll("figure.chart")].find(
            (one) => one.querySelector("h3").firstChild.data === name,
        );
        return chart.querySelector(".plot canvas")?.width > 300;
    }, title);
    const tops = await plot.locator("canvas").evaluate((canvas) => {
        const [left, right] = [66, 16].map((room) => room * devicePixelRatio);
        const width = (canvas.width - left - right) / 5;
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return Array.from({ length: 5 }, (_, bucket) => {
            const x = Math.round(left + (bucket + 0.5) * width);
            const part = (y, colour) => data[(y * canvas.width + x) * 4 + colour];
            const middle = Math.floor(canvas.height / 2);
            let top = middle;
            while (top > 0 && [0, 1, 2].every((colour) => part(top - 1, colour) === part(middle, colour))) --top;
            return top;
        });
    });
    assert.ok(
        tops.every((top) => Math.abs(top - tops[0]) <= 1 && top > 5 && top < 100),
        String(tops),
    );
    await plot.focus();
    await page.keyboard.press("Home");
    assert.match(await figure(page, title).locator(".told").textContent(), /^4 to 5 · blocks: 322 \(/);
    assert.deepEqual(
        (await table(page, title)).map((row) => row[2]),
        ["321.928", "263.034", "222.392", "192.645", "1000"],
    );
});
