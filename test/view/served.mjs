// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page of granary report --serve itself: a first picture that gives way to the whole, and zoom down to single events.
// Invariant: the server here is the command, of a synthetic trace; keys alone zoom. What is waited for is told by the page.
// Must not know: how the command makes a document.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { browser, closeClean, open, settings } from "./page.mjs";
import { chartOf, csv, figure, table, windowKeys } from "./parts.mjs";

const { granary, synthetic } = settings;
const kSlices = 128;
let running, server, address;

before(async () => {
    const trace = join(settings.out, "trace");
    execFileSync(synthetic, [trace, "2000000", "3"]);
    server = spawn(granary, ["report", trace, "--serve"], { stdio: ["ignore", "pipe", "inherit"] });
    [address] = await new Promise((line) => createInterface(server.stdout).once("line", (text) => line([text])));
    running = await browser();
});
after(async () => {
    await running?.close();
    const ended = new Promise((code) => server.once("exit", code));
    server.kill("SIGINT");
    assert.equal(await ended, 0);
});

async function ask(path, parameters) {
    const { origin, searchParams } = new URL(address);
    const query = new URLSearchParams({ ...parameters, token: searchParams.get("token") });
    for (;;) {
        const reply = await fetch(`${origin}${path}?${query}`);
        if (reply.status === 200) return reply.json();
        assert.equal(reply.status, 202);
    }
}
// As the page names slices, so does the server.
const windowOf = (report, first, last) => ({
    from: String(report.slices[first]),
    to: String(report.slices[last]),
    page: "test",
});

async function closer(page, ...keys) {
    await windowKeys(page, "both", ...keys);
    await page.getByRole("button", { name: "Look closer" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.className === "back");
}

// The whole is held back until the test has seen the first picture.
test("the first picture gives way to the whole, and the reader stays where he is", async () => {
    const context = await running.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    const complaints = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    let letGo;
    const held = new Promise((go) => (letGo = go));
    let asked = 0;
    await page.route("**/document?**", async (route) => {
        if (asked++ === 0) return route.fulfill({ status: 202, body: '{"done":0.25}' });
        await held;
        return route.continue();
    });
    await page.goto(address);
    await page.waitForSelector("#page[data-first]");
    const first = await ask("/first", {});
    assert.match(await page.locator(".notes").textContent(), /This is a first picture/);
    assert.deepEqual(await page.locator(".story p").allTextContents(), first.story);
    const chart = chartOf(first, "Blocks by size");
    assert.deepEqual(
        (await table(page, chart.title)).map((row) => Number(row[2])),
        chart.series[0].values,
    );
    const status = page.getByRole("status").filter({ hasText: "The whole is being made" });
    assert.equal(await status.isVisible(), true);
    assert.equal(await page.locator("progress").evaluate((bar) => bar.value), 0.25);
    assert.equal(await page.getByRole("button", { name: "Look closer" }).count(), 0);
    await windowKeys(page, "from", "Shift+ArrowRight");
    letGo();
    await page.waitForSelector("#page[data-ready]");
    assert.equal(await status.isVisible(), false);
    const whole = await ask("/document", { page: "test" });
    assert.deepEqual(
        await page.locator(".answer").allTextContents(),
        whole.sections.map(({ answer }) => answer),
    );
    assert.equal(await page.locator(".overview .handle.from").getAttribute("aria-valuenow"), "10");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Window from");
    assert.match(await page.locator("footer").textContent(), /Served by granary report --serve/);
    assert.deepEqual(complaints, []);
    await context.close();
});

test("keys alone zoom down to single events, and back", async () => {
    const opened = await open(running, address, { served: true });
    const { page } = opened;
    let report = await ask("/document", { page: "test" });
    const lengths = [];
    const events = () => page.locator("#events .answer").textContent();
    do {
        const first = 40;
        const last = 42;
        await windowKeys(page, "both", "Escape");
        await windowKeys(page, "from", ...new Array(first / 10).fill("Shift+ArrowRight"));
        await windowKeys(
            page,
            "to",
            ...new Array(kSlices - last - 80).fill("ArrowLeft"),
            ...new Array(8).fill("Shift+ArrowLeft"),
        );
        const seconds = await page.locator(".window-text").textContent();
        await closer(page);
        report = await ask("/document", windowOf(report, first, last));
        lengths.push(report.slices.at(-1) - report.slices[0]);
        assert.match(await page.locator(".notes").textContent(), /^This report covers only the time from/);
        assert.equal(await page.locator("#footprint .answer").textContent(), chartless(report, "footprint"));
        assert.ok(seconds.includes(" of "), seconds);
        assert.match(await page.locator(".window-text").textContent(), /^The whole of this time, /);
        assert.ok(lengths.length < 6, "it comes to single events");
    } while (/select a shorter time/.test(await events()));
    const rows = chartOf(report, "Events").rows;
    assert.ok(rows.length > 0 && rows.length <= 500, `${rows.length}`);
    const shown = await table(page, "Events");
    assert.deepEqual(
        shown.map(([time]) => time),
        rows.map(([time]) => String(time)),
    );
    assert.deepEqual(
        shown.map((row) => row[3]),
        rows.map((row) => String(row[3])),
    );
    const times = await figure(page, "Events").locator("tbody td:first-child").allTextContents();
    assert.ok(
        rows.every(([time], at) => Math.abs(Number.parseFloat(times[at]) - time) < 1e-7 || time >= 120),
        times[0],
    );
    assert.equal((await csv(page, "Events")).rows.length, rows.length + 1);
    for (let level = lengths.length; level > 0; --level) {
        await page.getByRole("button", { name: "Back to the longer time" }).focus();
        await page.keyboard.press("Enter");
        assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Window");
        assert.equal(await page.locator(".overview .handle.from").getAttribute("aria-valuenow"), "40");
    }
    assert.equal(await page.getByRole("button", { name: "Back to the longer time" }).count(), 0);
    await closeClean(opened);
});

function chartless(report, id) {
    return report.sections.find((section) => section.id === id).answer;
}

test("a closer look that another one supersedes is not shown", async () => {
    const opened = await open(running, address, { served: true });
    const { page } = opened;
    const report = await ask("/document", { page: "test" });
    let letGo;
    const held = new Promise((go) => (letGo = go));
    let asked = 0;
    await page.route("**/document?**", async (route) => {
        if (asked++ === 0) await held;
        return route.continue();
    });
    const look = async (...keys) => {
        await windowKeys(page, "both", ...keys);
        await page.getByRole("button", { name: "Look closer" }).click();
    };
    await look("+");
    await look("Escape", "+", "+");
    await page.waitForFunction(() => document.activeElement?.className === "back");
    letGo();
    const finer = await ask("/document", windowOf(report, 48, 80));
    assert.equal(await page.locator("#footprint .answer").textContent(), chartless(finer, "footprint"));
    await page.unrouteAll({ behavior: "wait" });
    assert.equal(await page.locator("#footprint .answer").textContent(), chartless(finer, "footprint"));
    await closeClean(opened);
});

test("a server that has gone is told of", async () => {
    const opened = await open(running, address, { served: true });
    const { page, context } = opened;
    await page.route("**/document?**", (route) => route.abort());
    await windowKeys(page, "both", "+");
    await page.getByRole("button", { name: "Look closer" }).click();
    assert.match(await page.getByRole("alert").textContent(), /granary does not answer/);
    await context.close();
});
