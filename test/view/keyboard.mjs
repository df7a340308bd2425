// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the keyboard alone reaches everything that can be pressed, moves in every chart, and hears what is there.
// Invariant: no mouse here.
// Must not know: how the page draws.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { rich } from "./fixture.mjs";
import { browser, closeClean, open, pageOf, written } from "./page.mjs";
import { chartOf, figure, kWholeRun, sliced } from "./parts.mjs";

const report = rich();
let running, opened, page;
before(async () => {
    running = await browser();
    opened = await open(running, `file://${written("keyboard", pageOf(report))}`);
    page = opened.page;
});
after(async () => {
    await closeClean(opened);
    await running.close();
});

async function press(...keys) {
    for (const key of keys) await page.keyboard.press(key);
}
async function told(title) {
    return figure(page, title).locator(".told").textContent();
}
async function inChart(title, ...keys) {
    await figure(page, title).locator(".plot, .lying").focus();
    await press(...keys);
    return told(title);
}

test("Tab reaches whatever can be pressed, each with a name and a visible focus", async () => {
    const wanted = await page.evaluate(() => {
        const all = [...document.querySelectorAll("button, input, a[href], [tabindex='0']")];
        const radios = new Set();
        const reachable = all.filter((element) => {
            if (element.disabled || element.closest("dialog:not([open])") || element.closest("[hidden]")) return false;
            if (element.type !== "radio") return true;
            return element.checked && !radios.has(element.name) && radios.add(element.name);
        });
        reachable.forEach((element, at) => (element.dataset.wanted = String(at)));
        return reachable.length;
    });
    const seen = new Set();
    const faults = [];
    for (let tabs = 0; tabs < wanted + 20 && seen.size < wanted; ++tabs) {
        await press("Tab");
        const here = await page.evaluate(() => {
            const element = document.activeElement;
            const shown = element.type === "radio" ? element.closest("label") : element;
            const label = element.closest("label")?.textContent ?? "";
            return {
                at: element.dataset.wanted,
                name: element.getAttribute("aria-label") || element.textContent.trim() || label || element.getAttribute("title"),
                outlined: getComputedStyle(shown).outlineStyle !== "none",
                html: element.outerHTML.slice(0, 90),
            };
        });
        if (here.at !== undefined) seen.add(here.at);
        if (!here.name || (here.at !== undefined && !here.outlined)) faults.push(here.html);
    }
    assert.equal(seen.size, wanted);
    assert.deepEqual(faults, []);
});

test("bars are told one by one", async () => {
    const chart = chartOf(report, "Allocations by size");
    const sums = sliced(chart.series[0].slices, 0, kWholeRun).map(Number);
    const all = sums.reduce((sum, value) => sum + value, 0);
    const text = await inChart(chart.title, "ArrowRight", "ArrowRight", "ArrowRight");
    assert.match(text, /^48\u00a0B to 64\u00a0B · allocations: /);
    assert.ok(Math.abs(Number(text.match(/\(([\d.]+)\u00a0%;/)[1]) - (sums[2] / all) * 100) < 0.1, text);
    assert.match(await inChart(chart.title, "End"), /^64\u00a0KiB to 1\u00a0MiB .*up to here 100\u00a0%/);
    assert.match(await inChart(chart.title, "Home"), /^16\u00a0B to 32\u00a0B/);
});

test("series are told point by point", async () => {
    const chart = chartOf(report, "Where resident bytes are");
    const text = await inChart(chart.title, "Home", "ArrowRight");
    assert.match(text, /^100\u00a0ms · asked for: [\d.]+\u00a0MiB · lost in classes: /);
    assert.match(await inChart(chart.title, "End"), /^30\u00a0s · /);
});

test("the map's cursor moves by cells; zoomed, the view goes with it", async () => {
    const chart = chartOf(report, "Memory map");
    assert.match(await inChart(chart.title, "ArrowRight"), /^time: 0\u00a0s to [\d.]+\u00a0ms · address: 0x55d04c3e0000 to 0x55d04c3f0000/);
    assert.match(await inChart(chart.title, "ArrowUp"), /address: 0x55d04c3f0000 to 0x55d04c400000/);
    await inChart(chart.title, "+", "+", "+", "+", "+");
    assert.match(await inChart(chart.title, "End"), /^time: 29\.\d+\u00a0s to 30\u00a0s/);
    assert.match(await inChart(chart.title, ...new Array(59).fill("ArrowUp")), /nothing lies here/);
    await inChart(chart.title, "0");
});

test("the flame graph is walked from callers to callees", async () => {
    const title = "Allocated bytes by call";
    assert.match(await inChart(title, "ArrowDown"), /^all · bytes: .*100\u00a0% of all/);
    assert.match(await inChart(title, "ArrowDown"), /^main · src\/part_0\.cpp:10 in program · bytes: /);
    const callee = await inChart(title, "ArrowDown", "ArrowDown");
    assert.notEqual(await inChart(title, "ArrowRight"), callee);
    await inChart(title, "Enter");
    const whole = figure(page, title).getByRole("button", { name: "Whole graph" });
    assert.equal(await whole.isEnabled(), true);
    await inChart(title, "Escape");
    assert.equal(await whole.isEnabled(), false);
});

test("the matrix is a grid with one place in the order of Tab", async () => {
    const chart = figure(page, "Who frees whose blocks");
    assert.equal(await chart.locator("td[tabindex='0']").count(), 1);
    await chart.locator("td[tabindex='0']").focus();
    await press("ArrowRight", "ArrowDown");
    assert.match(await told("Who frees whose blocks"), /^allocated by worker 1, freed by worker 1: /);
    assert.equal(await chart.locator("td[tabindex='0']").count(), 1);
    assert.match(await chart.locator("td:focus").textContent(), /MiB/);
});

test("lying bars, tables and the list of keys", async () => {
    assert.match(await inChart("Call sites that hold pages", "ArrowDown", "ArrowDown"), /^Tree::insert\(Node\*\) · pages held back: 21\u00a0MiB/);
    await figure(page, "Allocations by size").getByRole("button", { name: /^Table/ }).focus();
    await press("Enter");
    assert.equal(await figure(page, "Allocations by size").locator("table.data").count(), 1);
    await press("Enter");
    await page.getByRole("button", { name: "Keys" }).focus();
    await press("Enter");
    assert.equal(await page.getByRole("dialog").isVisible(), true);
    await press("Escape");
    assert.equal(await page.getByRole("dialog").count(), 0);
});

test("a series hides by its name; one always stays", async () => {
    const chart = figure(page, "Share of blocks freed by an age");
    for (const name of ["by blocks", "by bytes"]) {
        await chart.getByRole("button", { name }).focus();
        await press("Enter");
    }
    assert.equal(await chart.getByRole("button", { name: "by blocks" }).getAttribute("aria-pressed"), "false");
    assert.equal(await chart.getByRole("button", { name: "by bytes" }).getAttribute("aria-pressed"), "true");
    assert.match(await inChart("Share of blocks freed by an age", "End"), /^32\u00a0s · by bytes: /);
});
