// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page of `granary diff`, as the command writes it: both traces stand in each chart, with the numbers of a known script.
// Invariant: what is expected follows from the two scripts below; it is written out here.
// Must not know: how the command counts.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, closeClean, open, settings, toPaper } from "./page.mjs";
import { csv, figure, table, windowKeys } from "./parts.mjs";

// Times are in 100 ns. A has 1000 bytes more each millisecond, for eight of them; B twice that, for ten, from another call, too.
function script(milliseconds, each) {
    const lines = ["stacks all", "module 0 0x10000 0x20000 0 /test/program", "stack 0 0x10010", "thread 0 main"];
    for (let at = 1; at <= milliseconds; ++at) {
        for (let block = 0; block < each; ++block)
            lines.push(`event 0 ${at * 10000} malloc 0x${(at * 16 + block).toString(16)}0000 1000 1`);
    }
    lines.push(`sample 5000 ${each}000000 1000000`, `sample 45000 ${each}500000 1000000`, `mark 25000 0 begun ${each}`);
    return `${lines.join("\n")}\n`;
}

const kAt = "Bytes in use over time";
let running, opened, page, path;
before(async () => {
    const made = (name, text) => {
        execFileSync(process.env.VIEW_WRITE_TRACE, [join(settings.out, name)], { input: text });
        return join(settings.out, name);
    };
    path = join(settings.out, "compared.html");
    const traces = [made("a.trace", script(8, 1)), made("b.trace", script(10, 2))];
    execFileSync(process.env.VIEW_GRANARY, ["diff", ...traces, "-o", path]);
    running = await browser();
    opened = await open(running, `file://${path}`);
    page = opened.page;
});
after(async () => {
    await closeClean(opened);
    await running.close();
});

test("the head says what is compared, and what grew", async () => {
    assert.match(await page.locator(".compared").textContent(), /^Compared: A: \S+a\.trace · B: \S+b\.trace$/);
    const story = await page.locator(".story p").allTextContents();
    assert.equal(story.length, 3);
    assert.equal(story[0], "In use at the peak: from 7.81 KiB to 19.5 KiB, 2.5 times as much.");
    assert.ok(
        story.some((sentence) =>
            /^Largest growth: unknown function \(program\), from 7\.81 KiB to 19\.5 KiB\.$/.test(sentence),
        ),
        story,
    );
    assert.deepEqual(await page.locator("section.question").evaluateAll((sections) => sections.map(({ id }) => id)), [
        "totals",
        "time",
        "sites",
        "resident",
        "sizes",
        "threads",
    ]);
    assert.ok(statSync(path).size < 1_000_000);
    assert.ok(!/https?:\/\/(?!www\.w3\.org)/.test(readFileSync(path, "utf8").replace(/>[^<]*<\/script>/g, "")));
});

test("both lie over each other: the table behind, the CSV, and where the shorter run ended", async () => {
    const file = await csv(page, kAt);
    const near = (milliseconds) => file.rows.slice(1).find(([time]) => Number(time) * 1000 > milliseconds);
    assert.deepEqual(near(1.5).slice(1), ["1000", "2000"]);
    assert.deepEqual(near(7.5).slice(1), ["7000", "14000"]);
    assert.deepEqual(file.rows[0], ["time since the start of each run (time)", "A (bytes)", "B (bytes)"]);
    assert.deepEqual(near(9.5).slice(1), ["", "18000"]);
    assert.deepEqual(file.rows.at(-1).slice(1), ["", "20000"]);
    const resident = (await csv(page, "Bytes resident over time")).rows[700].slice(1);
    assert.deepEqual(resident, ["1500000", "2500000"]);
});

test("each chart has A and B in its legend, and one can be hidden", async () => {
    for (const title of [kAt, "Bytes allocated, by requested size", "Peak of the bytes in use, by part of each run"])
        assert.deepEqual(await figure(page, title).locator(".legend button").allTextContents(), ["A", "B"], title);
    const legend = figure(page, kAt).locator(".legend button");
    await legend.first().click();
    await figure(page, kAt).locator(".plot").focus();
    await page.keyboard.press("End");
    assert.match(await figure(page, kAt).locator(".told").textContent(), /^10\u00a0ms · B: 19\.5\u00a0KiB$/);
    await legend.first().click();
    await figure(page, kAt).locator(".plot").focus();
    await page.keyboard.press("Home");
    assert.match(await figure(page, kAt).locator(".told").textContent(), / · A: 0\u00a0B · B: 0\u00a0B$/);
});

test("by function: bars, the flame graph and the table have the growth", async () => {
    const bars = "Functions that changed most, by bytes in use at the peak";
    assert.deepEqual(await table(page, bars), [["unknown function (program)", "8000", "20000"]]);
    assert.deepEqual(await table(page, "Call stacks that grew or shrank from A to B"), [
        [
            "unknown function (program)",
            "12000",
            "12000",
            ...(await table(page, "Call stacks that grew or shrank from A to B"))[0].slice(3),
        ],
    ]);
    assert.deepEqual(await table(page, "Blocks allocated, by function"), [
        ["unknown function (program)", "8", "20", "12", "1.5"],
    ]);
    const text = await figure(page, "Blocks allocated, by function").locator("tbody").textContent();
    assert.ok(text.includes("150\u00a0%"), text);
});

test("a window of time zooms what is over time, by keys alone", async () => {
    await windowKeys(page, "from", ...new Array(64).fill("ArrowRight"));
    const rows = (await table(page, kAt)).map((row) => row.map(Number));
    assert.ok(rows[0][0] >= 0.005 - 1e-6, rows[0]);
    assert.match(await figure(page, kAt).locator("h3").textContent(), /5\.?\d*\u00a0ms – 10\u00a0ms/);
    assert.match(await figure(page, "Bytes allocated, by requested size").locator("h3").textContent(), /whole run/);
    await windowKeys(page, "both", "Escape");
});

for (const colorScheme of ["light", "dark"]) {
    test(`it is drawn ${colorScheme}, and on paper`, async () => {
        const other = await open(running, `file://${path}`, { colorScheme });
        const light = () =>
            other.page.evaluate(() => Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0]) > 128);
        assert.equal(await light(), colorScheme === "light");
        await toPaper(other.page);
        assert.equal(await light(), true);
        await closeClean(other);
    });
}
