// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: dark and light, on paper, and on screens from narrow to huge; and what a page of six million bytes takes to open.
// Invariant: times are printed, never judged.
// Must not know: the numbers.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { after, before, test } from "node:test";
import { large, rich } from "./fixture.mjs";
import { browser, closeClean, open, pageOf, settings, toPaper, written } from "./page.mjs";
import { figure } from "./parts.mjs";

const kKinds = ["Allocations by size", "Where resident bytes are", "Memory map", "Allocated bytes by call"];
let running, address;
before(async () => {
    running = await browser();
    address = `file://${written("appearance", pageOf(rich()))}`;
});
after(() => running.close());

// The lightness of the page's ground, from 0 to 255, and whether anything is drawn on a chart's canvas.
async function ground(page) {
    return page.evaluate(() => Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0]));
}
async function colours(page, title) {
    await figure(page, title).scrollIntoViewIfNeeded();
    await page.waitForFunction((name) => {
        const chart = [...document.querySelectorAll("figure.chart")].find(
            (one) => one.querySelector("h3").firstChild.data === name,
        );
        return chart.querySelector(".plot canvas")?.width > 300;
    }, title);
    return figure(page, title)
        .locator(".plot canvas")
        .evaluate((canvas) => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const seen = new Set();
            for (let at = 0; at < data.length; at += 4) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
            return seen.size;
        });
}

for (const colorScheme of ["light", "dark"]) {
    test(`${colorScheme}, as the reader's system wishes; the switch turns it`, async () => {
        const opened = await open(running, address, { colorScheme });
        const { page } = opened;
        const isLight = async () => (await ground(page)) > 128;
        assert.equal(await isLight(), colorScheme === "light");
        for (const title of kKinds) assert.ok((await colours(page, title)) > 3, `${title} is drawn`);
        await page.getByRole("button", { name: colorScheme === "light" ? "Dark" : "Light", exact: true }).click();
        assert.equal(await isLight(), colorScheme === "dark");
        await closeClean(opened);
    });
}

test("paper is light, has every section drawn, and no controls", async () => {
    const opened = await open(running, address, { colorScheme: "dark" });
    const { page } = opened;
    await toPaper(page);
    assert.ok((await ground(page)) > 128);
    for (const hidden of [".bar", ".contents", ".tools", ".told"])
        assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
    await page.emulateMedia({ media: "screen" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await closeClean(opened);
});

// What needs most room: a choice of six measures, a table of eight columns, long names.
function wide() {
    const document = rich();
    const charts = document.sections.flatMap((section) => section.charts);
    const flame = charts.find(({ kind }) => kind === "flame");
    const [{ name, unit, values, slices }] = flame.measures;
    flame.measures = Array.from({ length: 6 }, (_, at) => ({
        name: `${name} at the peak ${at}`,
        unit,
        values,
        slices,
    }));
    charts.find(({ title }) => title === "Calls").columns[0].name = "the function that the program called";
    document.sections[0].charts.push({
        kind: "table",
        title: "A wide table",
        columns: [
            { name: "call site", unit: "text" },
            ...Array.from({ length: 7 }, (_, at) => ({
                name: `own blocks freed by other threads ${at}`,
                unit: "count",
            })),
        ],
        rows: [[`std::vector<${"Token".repeat(19)}>::push_back`, ...Array.from({ length: 7 }, (_, at) => 1e5 + at)]],
    });
    return document;
}

// Titles of the charts in which a text or a table is wider than its place.
async function cutOff(page) {
    for (const chart of await page.locator("figure.chart").all()) await chart.scrollIntoViewIfNeeded();
    return page.evaluate(() =>
        [...document.querySelectorAll("figure.chart .scroller, figure.chart .data td, figure.chart .data th, .tools")]
            .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
            .map((one) => `${one.closest("figure").querySelector("h3").textContent}: ${one.className}`),
    );
}

test("nothing is cut off on a phone, at a desk, and on paper", async () => {
    const opened = await open(running, `file://${written("wide", pageOf(wide()))}`);
    const { page } = opened;
    for (const table of await page.getByRole("button", { name: "Table", exact: true }).all()) await table.click();
    for (const row of await page.locator(".opens:enabled").all()) await row.click();
    for (const width of [360, 390, 1400]) {
        await page.setViewportSize({ width, height: 800 });
        assert.deepEqual(await cutOff(page), [], `${width} pixels`);
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width} pixels`);
    }
    const kPaper = 718; // pixels: A4 without its margins
    await page.setViewportSize({ width: kPaper, height: 1000 });
    await page.emulateMedia({ media: "print" });
    assert.deepEqual(await cutOff(page), [], "paper");
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= kPaper, "paper");
    await closeClean(opened);
});

test("nothing hangs out to the right, on screens from narrow to huge", async () => {
    const opened = await open(running, address);
    const { page } = opened;
    for (const width of [360, 1000, 3840]) {
        await page.setViewportSize({ width, height: Math.round(width * 0.6) });
        for (const section of await page.locator("section.question").all()) await section.scrollIntoViewIfNeeded();
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width} pixels`);
    }
    await closeClean(opened);
});

test("the page without a document is small; with six million bytes it opens", async () => {
    assert.ok(statSync(settings.page).size < 300_000);
    const path = written("large", pageOf(large()));
    assert.ok(statSync(path).size > 5.5e6);
    const opened = await open(running, `file://${path}`);
    const drawn = await opened.page.evaluate(() => performance.now());
    console.log(
        `${(statSync(path).size / 1e6).toFixed(1)} MB opened in ${opened.seconds.toFixed(2)} s; ${(drawn / 1000).toFixed(2)} s by the page's clock`,
    );
    await closeClean(opened);
});
