// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the window of time: selected by keys and by mouse, it filters sums exactly, zooms what is over time, and says so.
// Invariant: sums are computed apart, by whole numbers.
// Must not know: how the page draws.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { rich } from "./fixture.mjs";
import { browser, closeClean, open, pageOf, written } from "./page.mjs";
import { chartOf, csv, figure, functionSums, sliced, table, windowKeys } from "./parts.mjs";

const report = rich();
const kSizes = "Allocations by size";
let running, opened, page;
before(async () => {
    running = await browser();
    opened = await open(running, `file://${written("window", pageOf(report))}`);
    page = opened.page;
});
beforeEach(() => windowKeys(page, "both", "Escape"));
after(async () => {
    await closeClean(opened);
    await running.close();
});

async function selected() {
    return page.locator(".overview .handle").evaluateAll((handles) => handles.map((handle) => Number(handle.getAttribute("aria-valuenow"))));
}
async function expectSums(first, last) {
    const sums = sliced(chartOf(report, kSizes).series[0].slices, first, last);
    assert.deepEqual((await table(page, kSizes)).map((row) => row[2]), sums);
}

test("keys select slices, and sums are exact", async () => {
    await windowKeys(page, "from", ...new Array(7).fill("ArrowRight"));
    await windowKeys(page, "to", "Shift+ArrowLeft", "Shift+ArrowLeft", "ArrowLeft");
    assert.deepEqual(await selected(), [7, 7, 39]);
    await expectSums(7, 39);
    assert.equal(await page.locator(".window-text").textContent(), "3.5\u00a0s to 19.5\u00a0s: 16\u00a0s of 30\u00a0s");
    assert.match(await figure(page, kSizes).locator("h3").textContent(), /3\.5\u00a0s – 19\.5\u00a0s/);
    assert.match(await figure(page, "Size against lifetime").locator("h3").textContent(), /whole run/);
    const chart = chartOf(report, "Allocated bytes by call");
    assert.deepEqual(new Map((await table(page, chart.title)).map(([name, own, total]) => [name, [own, total]])), functionSums(report, chart, 0, 7, 39));
    const file = await csv(page, kSizes);
    assert.equal(file.name, "cc1plus-big.cpp-sizes-3.5s-19.5s.csv");
    assert.deepEqual(file.rows.slice(1).map((row) => row[2]), sliced(chartOf(report, kSizes).series[0].slices, 7, 39));
});

test("the parts of the run sum up to the whole", async () => {
    const parts = [];
    for (const [first, last] of [[0, 20], [20, 41], [41, 60]]) {
        await windowKeys(page, "both", "Escape");
        await windowKeys(page, "to", ...new Array(60 - last).fill("ArrowLeft"));
        await windowKeys(page, "from", ...new Array(first).fill("ArrowRight"));
        assert.deepEqual(await selected(), [first, first, last]);
        parts.push((await table(page, kSizes)).map((row) => BigInt(row[2])));
    }
    assert.deepEqual(parts[0].map((sum, at) => String(sum + parts[1][at] + parts[2][at])), sliced(chartOf(report, kSizes).series[0].slices, 0, 60));
});

test("the window moves as a whole, and stays within the run", async () => {
    await windowKeys(page, "both", "+");
    assert.deepEqual(await selected(), [15, 15, 45]);
    await page.keyboard.press("ArrowRight");
    assert.deepEqual(await selected(), [16, 16, 46]);
    await page.keyboard.press("End");
    assert.deepEqual(await selected(), [30, 30, 60]);
    await expectSums(30, 60);
    await windowKeys(page, "to", "Home");
    assert.deepEqual(await selected(), [30, 30, 31], "at least one slice stays");
    await page.getByRole("button", { name: "Whole run" }).click();
    assert.deepEqual(await selected(), [0, 0, 60]);
});

test("the mouse selects by dragging, and moves an edge", async () => {
    await page.evaluate(() => scrollTo(0, 0));
    const box = await page.locator(".overview .brush").boundingBox();
    const at = (slice) => box.x + (slice / 60) * box.width;
    const drag = async (from, to, y) => {
        await page.mouse.move(from, y);
        await page.mouse.down();
        await page.mouse.move((from + to) / 2, y);
        await page.mouse.move(to, y);
        await page.mouse.up();
    };
    await drag(at(10.5), at(29.5), box.y + 30);
    assert.deepEqual(await selected(), [10, 10, 30]);
    await drag(at(30), at(40.1), box.y + 30);
    assert.deepEqual(await selected(), [10, 10, 40]);
    await drag(at(20.2), at(25.2), box.y + 60);
    assert.deepEqual(await selected(), [15, 15, 45]);
    await expectSums(15, 45);
    await page.mouse.dblclick(at(50), box.y + 30);
    assert.deepEqual(await selected(), [0, 0, 60]);
});

test("what is over time zooms to the window; zoomed further, it can be made the window", async () => {
    await windowKeys(page, "from", "Shift+ArrowRight", "Shift+ArrowRight");
    const title = "Where resident bytes are";
    const rows = await table(page, title);
    assert.deepEqual(rows.map((row) => Number(row[0])), chartOf(report, title).at.filter((time) => time >= 10));
    const chart = figure(page, title);
    await chart.locator(".plot").focus();
    assert.equal(await chart.getByRole("button", { name: "Select this time" }).isVisible(), false);
    for (const key of ["End", "+", "+", "+", "+"]) await page.keyboard.press(key);
    await chart.getByRole("button", { name: "Select this time" }).click();
    const [first, , last] = await selected();
    assert.equal(last, 60);
    assert.ok(first > 40 && first < 60, `${first}`);
    await expectSums(first, last);
});

test("dragging over a chart zooms it, a double click shows all", async () => {
    const chart = figure(page, "Where resident bytes are");
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.locator(".plot").boundingBox();
    const middle = box.y + box.height / 2;
    const end = async () => {
        await chart.locator(".plot").hover({ position: { x: box.width - 18, y: 100 } });
        return Number((await page.locator(".hint strong").textContent()).match(/^[\d.]+/)[0]);
    };
    assert.ok((await end()) > 29);
    await page.mouse.move(box.x + 66 + (box.width - 82) / 3, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + 66 + (box.width - 82) / 2, middle, { steps: 4 });
    await page.mouse.up();
    assert.ok(Math.abs((await end()) - 15) < 0.3);
    await page.mouse.move(box.x + 200, middle);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    assert.ok((await end()) < 14.9);
    await page.mouse.dblclick(box.x + 300, middle);
    assert.ok((await end()) > 29);
});
