// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page of granary lab show: stepping, the time line, by block, by thread, side by side, on any screen.
// Invariant: motion is off, and nothing waits for a clock; a complaint of the browser fails the test.
// Must not know: how the page draws.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { everyState, hoard, kScript, labDocument, privateHeaps } from "./lab_fixture.mjs";
import { browser, closeClean, open, pageOf, toPaper, written } from "./page.mjs";

const kSteps = hoard().trim().split("\n").length - 1;
const documents = {
    one: labDocument("figure 1", { hoard: hoard() }),
    both: labDocument("figure 1", { private: privateHeaps(), hoard: hoard() }),
    states: labDocument("all <i>states</i>", { "every <b>state</b>": everyState() }),
};
let running;
before(async () => {
    running = await browser();
});
after(async () => {
    await running.close();
});

async function opened(name, options = {}, hash = "") {
    const address = `file://${written(`lab-${name}`, pageOf(documents[name]))}${hash}`;
    return open(running, address, { reducedMotion: "reduce", ...options });
}
async function press(page, ...keys) {
    for (const key of keys) await page.keyboard.press(key);
}
function times(count, key) {
    return new Array(count).fill(key);
}
async function number(page) {
    const text = await page.locator(".step-number").textContent();
    return Number(/^Step (\d+) of \d+$/.exec(text)[1]);
}
// What the record says about the step, from 1.
function recorded(record, step) {
    return JSON.parse(record.split("\n")[step]);
}
function panel(page, name) {
    return page.getByRole("region", { name, exact: true });
}
// How one lock is told of: "held by T1", "locked".
function locksOf(page, name) {
    return panel(page, name).locator("> .place-label .locked").allTextContents();
}
async function fact(page, name, what) {
    return panel(page, name).locator(".totals div", { hasText: what }).first().locator("dd").textContent();
}

test("opens at the first step, with its call, thread, line and note", async () => {
    const all = await opened("one");
    const { page } = all;
    assert.equal(await number(page), 1);
    const first = recorded(hoard(), 1);
    const line = page.locator(".step-line");
    assert.equal(await line.locator("code").textContent(), first.call);
    assert.equal(await line.locator(".owner").textContent(), "T1");
    assert.equal(await line.locator(".note").textContent(), first.note);
    const marked = page.locator(".script [aria-current]");
    assert.equal(await marked.textContent(), kScript.split("\n")[first.line - 1]);
    assert.match(await page.title(), /^hoard: figure 1/);
    await closeClean(all);
});

test("left, right, home, end and the buttons step; at the ends nothing happens", async () => {
    const all = await opened("one");
    const { page } = all;
    await press(page, "ArrowLeft");
    assert.equal(await number(page), 1);
    await press(page, "ArrowRight", "ArrowRight");
    assert.equal(await number(page), 3);
    await press(page, "ArrowLeft");
    assert.equal(await number(page), 2);
    await press(page, "End");
    assert.equal(await number(page), kSteps);
    const next = page.getByRole("button", { name: "Next step (right)" });
    assert.equal(await next.getAttribute("aria-disabled"), "true");
    await next.focus();
    await press(page, "Enter");
    assert.equal(await number(page), kSteps);
    await page.getByRole("button", { name: "Step back (left)" }).click();
    assert.equal(await number(page), kSteps - 1);
    await page.getByRole("button", { name: "First step (Home)" }).click();
    assert.equal(await number(page), 1);
    await page.getByRole("button", { name: "Last step (End)" }).click();
    await press(page, "Home");
    assert.equal(await number(page), 1);
    await closeClean(all);
});

test("a step back draws what was there before", async () => {
    const all = await opened("one");
    const { page } = all;
    const drawn = () => page.locator(".drawing").evaluate((drawing) => drawing.innerHTML);
    const before = [];
    for (let step = 0; step < 10; ++step) {
        before.push(await drawn());
        await press(page, "ArrowRight");
    }
    while (before.length > 0) {
        await press(page, "ArrowLeft");
        assert.equal(await drawn(), before.pop());
    }
    await closeClean(all);
});

test("space plays to the end and stops there", async () => {
    const all = await opened("states");
    const { page } = all;
    await page.getByText("fast", { exact: true }).click();
    await page.locator(".time-line-plot").focus();
    await press(page, "Space");
    const last = documents.states.runs[0].record.trim().split("\n").length - 1;
    await page.getByText(`Step ${last} of ${last}`).waitFor();
    await page.getByRole("button", { name: "Play (space)" }).waitFor();
    await press(page, "Space");
    assert.ok((await number(page)) < last);
    await press(page, "Space");
    await page.getByRole("button", { name: "Play (space)" }).waitFor();
    await closeClean(all);
});

test("heaps, numbers, blocks, rules, locks and moves are those of the record", async () => {
    const all = await opened("one", {}, "#step=9");
    const { page } = all;
    assert.equal(await number(page), 9);
    const step = recorded(hoard(), 9);
    const rule = step.events.find((event) => event.kind === "rule");
    assert.equal(await page.locator(".events .rule").textContent(), `${rule.text} ${rule.cite}`);
    assert.equal(await page.locator(".events .move").textContent(), "s1 moves: heap 0, empty → heap 1, up to 1/8 full");
    const heap = panel(page, "heap 1");
    assert.match(await heap.locator("> .place-label").textContent(), /u 64 \(\+64\).*a 8,192 \(\+8,192\).*locked/);
    assert.equal(await heap.locator(".container").count(), 1);
    assert.equal(await heap.getByRole("img", { name: "s1: 1 used of 127" }).count(), 1);
    assert.equal(await heap.locator(".cell.used.changed").textContent(), "x.0");
    assert.equal(await page.locator(".arrows path").count(), 1);
    assert.equal(await fact(page, "hoard", "held"), "8\u00a0KiB");
    const until = hoard()
        .trim()
        .split("\n")
        .slice(1, 10)
        .flatMap((line) => JSON.parse(line).events);
    assert.equal(await fact(page, "hoard", "locks so far"), String(until.filter(({ kind }) => kind === "lock").length));
    assert.equal(await fact(page, "hoard", "waits"), String(until.filter(({ kind }) => kind === "wait").length));
    await closeClean(all);
});

test("the time line takes the mouse, and tells where it is", async () => {
    const all = await opened("one");
    const { page } = all;
    const line = page.getByRole("slider", { name: "Step" });
    const box = await line.boundingBox();
    await page.mouse.click(box.x + box.width - 15, box.y + 40);
    assert.equal(await number(page), kSteps);
    await page.mouse.move(box.x + box.width - 15, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 10, box.y + 40, { steps: 5 });
    await page.mouse.up();
    assert.equal(await number(page), 1);
    await line.focus();
    await press(page, "ArrowRight");
    assert.equal(await line.getAttribute("aria-valuenow"), "2");
    assert.equal(await line.getAttribute("aria-valuetext"), `step 2: ${recorded(hoard(), 2).call}`);
    await closeClean(all);
});

test("by block: its history, and steps that go through it alone", async () => {
    const all = await opened("one");
    const { page } = all;
    await page.locator(".cell.used[data-block='b.0']").click();
    const lines = hoard().trim().split("\n").slice(1);
    const steps = lines.flatMap((line, at) => ("b.0" in JSON.parse(line).blocks ? [at + 1] : []));
    const card = page.getByRole("region", { name: "History of a block" });
    assert.match(await card.locator("h2").textContent(), /^Block x\.0 · s1\[0\], 64\u00a0B$/);
    assert.equal(await card.locator("li").count(), steps.length);
    assert.match(
        await card.locator("li").nth(1).textContent(),
        /T2: free\(x\.0\) free in s1: heap 1, up to 1\/8 full$/,
    );
    await press(page, "ArrowRight");
    assert.equal(await number(page), steps[1]);
    await press(page, "End");
    assert.equal(await number(page), steps.at(-1));
    await card.locator("li button").nth(2).click();
    assert.equal(await number(page), steps[2]);
    assert.equal(await card.locator("li[aria-current]").count(), 1);
    await card.getByRole("button", { name: "All steps" }).click();
    assert.equal(await card.isVisible(), false);
    await page.getByRole("combobox", { name: "By block" }).selectOption({ label: "x.3 · s1[3]" });
    assert.match(await card.locator("h2").textContent(), /^Block x\.3/);
    await closeClean(all);
});

test("by thread: steps that go through the thread's calls", async () => {
    const all = await opened("one");
    const { page } = all;
    await page.getByRole("combobox", { name: "By thread" }).selectOption("T2");
    const lines = hoard().trim().split("\n").slice(1);
    const steps = lines.flatMap((line, at) => (JSON.parse(line).thread === 2 ? [at + 1] : []));
    await press(page, "Home");
    const seen = [await number(page)];
    for (let at = 1; at < steps.length; ++at) {
        await press(page, "ArrowRight");
        seen.push(await number(page));
    }
    assert.deepEqual(seen, steps);
    await closeClean(all);
});

test("a line of the script goes to its first step", async () => {
    const all = await opened("one");
    const { page } = all;
    await page.locator(".script").getByRole("button", { name: "2: free x[*]" }).click();
    assert.equal(recorded(hoard(), await number(page)).line, 6);
    assert.equal(recorded(hoard(), (await number(page)) - 1).line, 4);
    await closeClean(all);
});

test("side by side: one step, one curve and one panel for each", async () => {
    const all = await opened("both");
    const { page } = all;
    await press(page, "End");
    assert.equal(await number(page), kSteps);
    assert.equal(await page.locator(".time-line-plot path.held").count(), 2);
    assert.equal(await fact(page, "private", "held"), "64\u00a0KiB");
    assert.equal(await fact(page, "hoard", "held"), "8\u00a0KiB");
    // The curve of private is the higher one: it ends at the top.
    const ends = await page
        .locator(".time-line-plot path.held")
        .evaluateAll((curves) => curves.map((curve) => Number(curve.getAttribute("d").split("V").pop())));
    assert.ok(ends[0] < ends[1], String(ends));
    await panel(page, "private").locator("[data-block]").first().click();
    assert.match(await page.locator(".block-card h2").textContent(), / of private, /);
    await closeClean(all);
});

test("runs whose steps differ come together at the same lines", async () => {
    const record = hoard().trim().split("\n");
    const shorter = record.filter((_, at) => at !== 3 && at !== 4).join("\n");
    documents.differ = labDocument("figure 1", { all: hoard(), fewer: shorter });
    const all = await opened("differ");
    const { page } = all;
    await press(page, "ArrowRight", "ArrowRight");
    assert.equal(await panel(page, "fewer").locator(".events").textContent(), "has no step here");
    await press(page, "ArrowRight", "ArrowRight");
    assert.equal(
        await panel(page, "fewer")
            .locator(".events")
            .evaluate((events) => events.tagName),
        "OL",
    );
    await press(page, "End");
    assert.equal(await number(page), kSteps);
    await closeClean(all);
});

test("a long step is told by its different events, with how often each happened", async () => {
    const times = 20;
    const lines = hoard().trim().split("\n");
    const step = JSON.parse(lines[9]);
    step.events = Array.from({ length: times }, () => step.events).flat();
    lines[9] = JSON.stringify(step);
    documents.long = labDocument("figure 1", { hoard: lines.join("\n") });
    const all = await opened("long", {}, "#step=9");
    const { page } = all;
    const told = await page.locator(".events li").allTextContents();
    assert.equal(told.length, 6);
    assert.equal(told.filter((text) => text.endsWith(` × ${times}`)).length, 6);
    assert.equal(told[3], `moves: heap 0, empty → heap 1, up to 1/8 full × ${times}`);
    await closeClean(all);
});

test("a lock that is held over several steps, and who waits for it", async () => {
    const all = await opened("states");
    const { page } = all;
    const lock = "arena & <i>lists</i>";
    assert.deepEqual(await locksOf(page, lock), ["held by T1"]);
    await press(page, "ArrowRight");
    assert.deepEqual(await locksOf(page, lock), ["held by T1", "waited for"]);
    await press(page, "ArrowRight");
    assert.deepEqual(await locksOf(page, lock), []);
    await closeClean(all);
});

test("every state of a block, ranges, a block mapped alone; names are text", async () => {
    const all = await opened("states");
    const { page } = all;
    await press(page, "End", "ArrowLeft");
    const stage = page.locator(".drawing");
    assert.equal(await stage.locator("b, i:not(.number-of i)").count(), 0);
    for (const state of ["used", "free", "remote", "buffered", "never"])
        assert.ok((await stage.locator(`.container .cell.${state}`).count()) > 0, state);
    assert.equal(await panel(page, "freed by others").locator(".chip.remote").textContent(), "cut[1]");
    assert.equal(await panel(page, "never filled").count(), 0);
    const widths = await stage
        .locator("[data-id='ranges'] .cell")
        .evaluateAll((cells) => cells.map((cell) => cell.offsetWidth));
    assert.equal(widths.length, 4);
    assert.ok(widths[0] > widths[2] && widths[3] > widths[0], String(widths));
    assert.equal(await stage.locator("[data-block='alone']").textContent(), "mapped");
    await press(page, "ArrowRight");
    assert.equal(await stage.locator("[data-block='alone']").count(), 0);
    await closeClean(all);
});

test("whatever can be pressed has a name, and Tab reaches it", async () => {
    const all = await opened("both");
    const { page } = all;
    const controls = page.locator("button:visible, select:visible, [role=slider]:visible");
    const names = await controls.evaluateAll((all) =>
        all.map((one) => one.getAttribute("aria-label") ?? one.textContent.trim()),
    );
    assert.deepEqual(
        names.filter((name) => name === ""),
        [],
    );
    const unseen = await controls.evaluateAll((all) => all.filter((one) => one.tabIndex < 0).length);
    assert.equal(unseen, 0);
    await page.getByRole("button", { name: "Keys" }).click();
    await press(page, "ArrowRight");
    assert.equal(await number(page), 1); // the dialog has the keys
    await press(page, "Escape");
    await press(page, "ArrowRight");
    assert.equal(await number(page), 2);
    await closeClean(all);
});

test("nothing is cut off from a phone to a large screen, light and dark", async () => {
    for (const name of ["both", "states"]) {
        for (const [width, colorScheme] of [
            [360, "light"],
            [400, "dark"],
            [800, "light"],
            [1280, "dark"],
            [2560, "light"],
        ]) {
            const all = await opened(name, { viewport: { width, height: 800 }, colorScheme });
            const { page } = all;
            await press(page, ...times(9, "ArrowRight"));
            const wide = await page.evaluate(() => document.documentElement.scrollWidth);
            assert.ok(wide <= width, `${name} at ${width}: ${wide}`);
            const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
            assert.equal(ground, colorScheme === "dark" ? "rgb(20, 23, 26)" : "rgb(252, 252, 250)");
            await closeClean(all);
        }
    }
});

test("on a phone the buttons for steps stay in sight", async () => {
    const all = await opened("both", { viewport: { width: 360, height: 700 } });
    const { page } = all;
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    const box = await page.getByRole("button", { name: "Next step (right)" }).boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= 700 && box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box));
    await closeClean(all);
});

test("on paper: the step without what could be pressed", async () => {
    const all = await opened("both", { colorScheme: "dark" });
    const { page } = all;
    await press(page, ...times(8, "ArrowRight"));
    await toPaper(page);
    assert.equal(await page.locator(".controls").isVisible(), false);
    assert.equal(await page.locator(".step-line code").isVisible(), true);
    assert.equal(await panel(page, "hoard").isVisible(), true);
    await closeClean(all);
});

test("with motion a container flies, and lands where it belongs", async () => {
    const all = await opened("one", { reducedMotion: "no-preference" }, "#step=8");
    const { page } = all;
    // Each flight is kept as it begins: one that has ended is no longer in document.getAnimations().
    await page.evaluate(() => {
        const { animate } = Element.prototype;
        window.flights = [];
        Element.prototype.animate = function (...words) {
            const flight = animate.apply(this, words);
            window.flights.push(flight);
            return flight;
        };
    });
    await press(page, "ArrowRight");
    const landed = await page.evaluate(async () => {
        await Promise.all(window.flights.map((flight) => flight.finished));
        return window.flights.length;
    });
    assert.equal(landed, 1);
    assert.equal(await panel(page, "heap 1").locator(".container").count(), 1);
    await closeClean(all);
});
