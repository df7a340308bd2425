// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page that picks an allocator, in a browser: its judgements are C++'s, its answers those of the allocator
//    that has the sum, by mouse, by keyboard and by address, on a wide and a narrow window, light and dark.
// Invariant: the page is opened from disk with the network refused; a complaint of the browser fails the test.
// Must not know: which features, rules and allocators there are, beyond a few that are named.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { browser, closeClean, open } from "../../view/page.mjs";

const address = `file://${process.env.PICKER_PAGE}`;
const judged = JSON.parse(readFileSync(process.env.PICKER_JUDGED, "utf8"));
const kCoalescedContainers = "coalescing changes block sizes; all blocks of a container have one size (3.2)";
let running;
before(async () => {
    running = await browser();
});
after(() => running.close());

async function at(hash, options, use) {
    const opened = await open(running, `${address}#${hash}`, options);
    await use(opened.page);
    await closeClean(opened);
}
const verdictOf = (page) => page.locator("#verdict p").first().textContent();
const foundOf = (page) => page.locator("#found h2").first().textContent();

test("sums are judged as C++ judges them", () =>
    at("single", {}, async (page) => {
        const said = await page.evaluate(
            (sums) => sums.map((sum) => broken(new Set(sum.split("+")))[0]?.why ?? "legal"),
            judged.map(([sum]) => sum),
        );
        assert.deepEqual(
            said,
            judged.map(([, judgement]) => judgement),
        );
        assert.ok(judged.filter(([, judgement]) => judgement === "legal").length > 100);
        assert.ok(new Set(said).size > 20, "most rules are broken by some sum");
    }));

test("ticking leads from a sum to its allocator, and says why a sum is illegal", () =>
    at("thread_heaps", {}, async (page) => {
        assert.equal(await foundOf(page), "threads");
        await page.getByRole("checkbox", { name: /^containers/ }).check();
        assert.equal(await foundOf(page), "containers");
        await page.getByRole("checkbox", { name: /^coalescing/ }).check();
        assert.equal(await verdictOf(page), `Does not compile: ${kCoalescedContainers}`);
        assert.equal(new URL(page.url()).hash, "#thread_heaps+coalescing+containers");
        await page.getByRole("button", { name: "containers", exact: true }).click();
        assert.equal(await verdictOf(page), "Legal: thread_heaps + containers: containers");
        await page.getByRole("button", { name: "Untick all" }).click();
        assert.match(await verdictOf(page), /^Does not compile: choose exactly one of single_heap/);
    }));

test("a sum that no allocator has is written in eight lines", () =>
    at("single_heap+containers", {}, async (page) => {
        assert.match(await verdictOf(page), /^Legal: single_heap \+ containers: no allocator/);
        const lines = (await page.locator("#found pre").first().textContent()).split("\n");
        assert.equal(lines.length, 8);
        assert.equal(lines[6], "using Chosen = Composed<single_heap + containers>;");
    }));

test("an allocator shows its file, its paper, its counts and its bars; a dash where nothing was counted", () =>
    at("owned", {}, async (page) => {
        const found = page.locator("#found");
        assert.match(await found.textContent(), /Wasik's thesis \(2008\), 5\.4.*lab\/allocators\/owned\.hpp/s);
        const row = (name) => found.getByRole("row", { name }).first();
        assert.match(await row("cache lines shared by moving containers").textContent(), /4599$/);
        assert.match(await row("recycle/2").textContent(), /0\.07 \[0\.06 0\.07\]$/);
        assert.ok((await row("recycle/2").locator("rect").boundingBox()).width > 10);
        await page.getByLabel("Start from").selectOption("hoard");
        assert.match(await verdictOf(page), /^No sum of features: HeapsAndLarge<EmptinessHeaps</);
        assert.equal(await page.locator("input:checked").count(), 0);
        assert.match(await row("cache lines shared by moving containers").textContent(), /-$/);
        assert.match(await found.textContent(), /of the run of 2026-11-26/);
        await page.getByLabel("Start from").selectOption("mtmalloc");
        assert.match(await row("recycle/2").textContent(), /0\.84 \[0\.84 0\.95\]$/);
        assert.match(await found.textContent(), /of the run of 2026-11-28/);
    }));

test("the keyboard alone reaches and changes everything, with a visible focus", () =>
    at("thread_heaps", {}, async (page) => {
        const wanted = await page.locator("select, button, input, summary, [tabindex='0']").count();
        const seen = new Set();
        for (let i = 0; i < wanted; ++i) {
            await page.keyboard.press("Tab");
            const here = await page.evaluate(() => {
                const all = [...document.querySelectorAll("select, button, input, summary, [tabindex='0']")];
                const focused = document.activeElement;
                return { at: all.indexOf(focused), outline: getComputedStyle(focused).outlineStyle };
            });
            if (here.at >= 0) {
                seen.add(here.at);
                assert.notEqual(here.outline, "none");
            }
        }
        assert.ok(seen.size >= wanted - 1, "a closed file's text is not reached"); // it is inside details
        await page.getByRole("checkbox", { name: /^containers/ }).focus();
        await page.keyboard.press("Space");
        assert.equal(await foundOf(page), "containers");
    }));

for (const colorScheme of ["light", "dark"]) {
    for (const width of [360, 1280]) {
        test(`${colorScheme}, ${width} pixels: nothing is cut, and text can be read`, () =>
            at("recommended", { colorScheme, viewport: { width, height: 800 } }, async (page) => {
                const size = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
                assert.deepEqual(size, [width, width]);
                const contrasts = await page.evaluate(() => {
                    const light = (color) => {
                        const parts = color
                            .match(/[\d.]+/g)
                            .slice(0, 3)
                            .map((part) => part / 255);
                        const linear = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
                        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
                    };
                    const paper = light(getComputedStyle(document.body).backgroundColor);
                    return ["h1", ".meaning", ".dim", "strong", "#found td", ".is-refused .name"].map((selector) => {
                        const ink = light(getComputedStyle(document.querySelector(selector)).color);
                        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
                    });
                });
                assert.ok(Math.min(...contrasts) >= 4.5, String(contrasts));
                await page.locator("input").last().scrollIntoViewIfNeeded();
                const box = await page.locator("#verdict").boundingBox();
                assert.ok(box.y >= 0 && box.y < 800, "the verdict stays in view while features are ticked");
            }));
    }
}
