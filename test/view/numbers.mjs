// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers on the page are the document's: in tables, in CSV, at the mouse and at the keyboard's cursor.
// Invariant: what is expected is computed here, apart from the page.
// Must not know: how the page draws.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { rich } from "./fixture.mjs";
import { browser, closeClean, open, pageOf, written } from "./page.mjs";
import { chartOf, csv, figure, functionSums, kWholeRun, sliced, table } from "./parts.mjs";

const report = rich();
let running, opened, page;
before(async () => {
    running = await browser();
    opened = await open(running, `file://${written("numbers", pageOf(report))}`);
    page = opened.page;
});
after(async () => {
    await closeClean(opened);
    await running.close();
});

test("the head tells the story", async () => {
    assert.equal(await page.locator("h1").textContent(), report.title);
    assert.deepEqual(await page.locator(".story p").allTextContents(), report.story);
    assert.deepEqual(await page.locator(".notes p").allTextContents(), report.notes);
    assert.deepEqual(
        await page.locator(".facts dd").allTextContents(),
        report.facts.map(([, text]) => text),
    );
    assert.deepEqual(
        await page.locator("section.question > h2").allTextContents(),
        report.sections.map(({ question }) => `${question} #`),
    );
    assert.deepEqual(
        await page.locator(".answer").allTextContents(),
        report.sections.map(({ answer }) => answer),
    );
    assert.deepEqual(
        await page.locator("nav a").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
        report.sections.map(({ id }) => `#${id}`),
    );
});

test("bars: table and CSV", async () => {
    const chart = chartOf(report, "Allocations by size");
    const sums = sliced(chart.series[0].slices, 0, kWholeRun);
    const rows = await table(page, chart.title);
    assert.deepEqual(
        rows.map((row) => row.slice(0, 3)),
        sums.map((sum, at) => [String(chart.edges[at]), String(chart.edges[at + 1]), sum]),
    );
    const all = sums.reduce((total, sum) => total + Number(sum), 0);
    let upTo = 0;
    for (const [at, row] of rows.entries())
        assert.ok(Math.abs(Number(row[3]) - (upTo += Number(sums[at])) / all) < 1e-12);
    const file = await csv(page, chart.title);
    assert.equal(file.name, "cc1plus-big.cpp-sizes.csv");
    assert.deepEqual(file.rows[0], [
        "size asked for, from (bytes)",
        "size asked for, to (bytes)",
        "allocations (count)",
        "allocations, share up to here (fraction)",
    ]);
    assert.deepEqual(file.rows.slice(1), rows);
});

test("bars of several series", async () => {
    const chart = chartOf(report, "How long blocks live");
    const sums = chart.series.map(({ slices }) => sliced(slices, 0, kWholeRun));
    assert.deepEqual(
        (await table(page, chart.title)).map((row) => row.slice(2)),
        sums[0].map((_, at) => sums.map((sum) => sum[at])),
    );
});

test("series keep what is not known as such", async () => {
    const chart = chartOf(report, "Share of blocks freed by an age");
    const rows = (await csv(page, chart.title)).rows.slice(1);
    assert.deepEqual(
        rows,
        chart.at.map((age, at) => [
            String(age),
            ...chart.series.map(({ values }) => (values[at] === null ? "" : String(values[at]))),
        ]),
    );
    assert.equal(rows[3][2], "");
});

test("a table with quotes, line ends and numbers at the edge", async () => {
    const chart = chartOf(report, "Calls");
    assert.deepEqual(
        (await csv(page, chart.title)).rows.slice(1),
        chart.rows.map((row) => row.map(String)),
    );
    const text = await figure(page, "Calls").locator("tbody").textContent();
    for (const part of [
        "3,084,123",
        "8\u00a0GiB",
        "19\u00a0ns",
        "61\u00a0%",
        "9,007,199,254,740,991",
        "<\u00a00.1\u00a0%",
    ])
        assert.ok(text.includes(part), `${part} in ${text}`);
});

test("a table sorts by a column, up and down", async () => {
    const head = figure(page, "Calls").getByRole("button", { name: "median" });
    const medians = async () => (await table(page, "Calls")).map((row) => Number(row[3]));
    await head.click();
    assert.deepEqual(await medians(), [3.3e-6, 4.1e-7, 1.9e-8, 1.2e-8]);
    await head.click();
    assert.deepEqual(await medians(), [1.2e-8, 1.9e-8, 4.1e-7, 3.3e-6]);
});

test("the matrix shows its values, and CSV has them", async () => {
    const chart = chartOf(report, "Who frees whose blocks");
    assert.deepEqual(
        (await csv(page, chart.title)).rows.slice(1),
        chart.values.map((row, at) => [chart.rows[at], ...row.map(String)]),
    );
    const cells = await figure(page, chart.title).locator("td").allTextContents();
    chart.values.flat().forEach((value, at) => {
        const [shown, unit] = cells[at].split("\u00a0");
        if (value === 0) assert.equal(cells[at], "·");
        else
            assert.ok(
                Math.abs(Number(shown) * { KiB: 1024, MiB: 2 ** 20 }[unit] - value) <= value * 0.005,
                `${cells[at]} for ${value}`,
            );
    });
});

test("the flow has a ribbon as thick as each value", async () => {
    const chart = chartOf(report, "Who frees whose blocks");
    const element = figure(page, chart.title);
    await element.locator("label").filter({ hasText: "Flow" }).click();
    const thick = await element
        .locator("path")
        .evaluateAll((paths) => paths.map((path) => Number(path.getAttribute("stroke-width"))));
    const values = chart.values.flat().filter((value) => value > 0);
    assert.equal(thick.length, values.length);
    const [most] = values.map((value, at) => ({ value, at })).sort((a, b) => b.value - a.value);
    values.forEach((value, at) =>
        assert.ok(Math.abs(thick[at] - Math.max(0.75, (value / most.value) * thick[most.at])) < 0.01),
    );
    await element.locator("label").filter({ hasText: "Matrix" }).click();
});

test("the flame graph sums by function; search counts each stack once", async () => {
    const chart = chartOf(report, "Allocated bytes by call");
    const expected = functionSums(report, chart, 0, 0, kWholeRun);
    const rows = await table(page, chart.title);
    assert.deepEqual(new Map(rows.map(([name, own, total]) => [name, [own, total]])), expected);
    const element = figure(page, chart.title);
    await element.getByRole("searchbox").fill("^Pool::grow$");
    const all = Number(functionSums(report, chart, 0, 0, kWholeRun).get("main")[1]);
    const share = (Number(expected.get("Pool::grow")[1]) / all) * 100;
    const found = await element.locator(".found").textContent();
    assert.ok(
        Math.abs(Number(found.match(/([\d.]+)\u00a0% of all/)[1]) - share) <= share * 0.006,
        `${found}: ${share}`,
    );
    await element.getByRole("searchbox").fill("");
    await element.locator("label").filter({ hasText: "blocks" }).click();
    assert.deepEqual(
        new Map((await table(page, chart.title)).map(([name, own, total]) => [name, [own, total]])),
        functionSums(report, chart, 1, 0, kWholeRun),
    );
    await element.locator("label").filter({ hasText: "From the allocation up" }).click();
    assert.deepEqual(
        new Map((await table(page, chart.title)).map(([name, own, total]) => [name, [own, total]])),
        functionSums(report, chart, 1, 0, kWholeRun),
    );
    await element.locator(".plot").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const told = await element.locator(".told").textContent();
    const most = [...functionSums(report, chart, 1, 0, kWholeRun)].sort(
        ([, a], [, b]) => Number(b[0]) - Number(a[0]),
    )[0];
    assert.ok(
        told.startsWith(`${most[0]} · `),
        `the function that allocates most itself stands widest when turned: ${told}`,
    );
});

test("a cell under the mouse is the document's", async () => {
    const chart = chartOf(report, "Memory map");
    const plot = figure(page, chart.title).locator(".plot");
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    const area = { left: 122, top: 10, width: box.width - 122 - 16, height: 520 - 34 };
    const cells = [chart.cells, chart.beside[0].cells].map((text) => Buffer.from(text, "base64"));
    for (const [column, row] of [
        [3, 5],
        [240, 100],
        [400, 0],
        [479, 199],
    ]) {
        await page.mouse.move(
            box.x + area.left + ((column + 0.5) / chart.columns) * area.width,
            box.y + area.top + (1 - (row + 0.5) / chart.rows) * area.height,
        );
        const lines = await page
            .locator(".hint")
            .evaluate((hint) => [...hint.children].map((child) => child.textContent));
        assert.equal(
            lines[1],
            `address: 0x${chart.y_edges[row].toString(16)} to 0x${chart.y_edges[row + 1].toString(16)}`,
        );
        const from = (column * 30) / chart.columns;
        const shown = lines[0].match(/^time: (\S+)\u00a0(m?s) to/);
        assert.ok(Math.abs(Number(shown[1]) * (shown[2] === "ms" ? 1e-3 : 1) - from) < 0.001, `${lines[0]}: ${from}`);
        ["live", "resident"].forEach((name, at) => {
            const cell = cells[at][row * chart.columns + column];
            const text = lines[2 + at];
            if (cell === 0) return assert.equal(text, `${name}: nothing`);
            const bytes = 1 + ((cell - 1) / 254) * 65535;
            const [, number, unit] = text.match(/: (\S+)\u00a0(\S+)$/);
            assert.ok(
                Math.abs(Number(number) * { B: 1, KiB: 1024 }[unit] - bytes) <= bytes * 0.006,
                `${text}: ${bytes}`,
            );
        });
    }
    const rows = (await csv(page, chart.title)).rows.slice(1);
    const seen = cells[0].filter((cell, at) => cell !== 0 || cells[1][at] !== 0).length;
    assert.equal(rows.length, seen);
    const index = rows.findIndex(
        (row) => row[2] === String(chart.y_edges[100]) && Math.abs(Number(row[0]) - 15) < 1e-9,
    );
    assert.ok(Math.abs(Number(rows[index][4]) - (1 + ((cells[0][100 * 480 + 240] - 1) / 254) * 65535)) < 1e-6);
});

test("huge numbers stay what they are", async () => {
    const chart = chartOf(report, "Huge numbers");
    assert.deepEqual(
        (await csv(page, chart.title)).rows.slice(1).map((row) => Number(row[2])),
        chart.series[0].values,
    );
});
