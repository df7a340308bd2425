// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: documents at the edges of what can be, pages without one, and a page that is served; and that the policy holds.
// Invariant: the server here answers what `granary report --serve` is to answer, on 127.0.0.1.
// Must not know: the numbers.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { empty, oneSlice, rich } from "./fixture.mjs";
import { browser, closeClean, open, pageOf, settings, written } from "./page.mjs";
import { figure, table } from "./parts.mjs";
import { readFileSync } from "node:fs";

let running;
before(async () => (running = await browser()));
after(() => running.close());

test("one slice, one point, one cell, and charts of nothing", async () => {
    const opened = await open(running, `file://${written("one", pageOf(oneSlice()))}`);
    const { page } = opened;
    assert.equal(await page.locator("h1").textContent(), 'one <slice> & "more"');
    assert.equal(await page.locator(".compared").textContent(), "Compared: glibc · granary");
    assert.equal(await page.locator(".handle[tabindex]").count(), 0);
    assert.deepEqual(
        (await table(page, "Allocations by size")).map((row) => Number(row[2])),
        [5, ...new Array(27).fill(1)],
    );
    for (const title of ["No thread", "No call", "No cell"])
        assert.match(await figure(page, title).textContent(), /Nothing of this kind was recorded/);
    for (const title of ["One moment", "A root alone", "One cell"]) {
        await figure(page, title).locator(".plot").focus();
        for (const key of ["ArrowRight", "ArrowDown", "+", "-", "End", "0", "Enter"]) await page.keyboard.press(key);
        assert.notEqual(await figure(page, title).locator(".told").textContent(), "");
    }
    await closeClean(opened);
});

test("an empty document", async () => {
    const opened = await open(running, `file://${written("empty", pageOf(empty()))}`);
    assert.equal(await opened.page.locator("section").count(), 0);
    await closeClean(opened);
});

for (const [name, text, expected] of [
    ["none", () => readFileSync(settings.page, "utf8"), /There is no document in this page/],
    ["newer", () => pageOf({ ...empty(), version: 2 }), /reads documents of version 1; this one says 2/],
    ["damaged", () => pageOf(empty()).replace(/;base64">.{40}/, ';base64">'), /This report cannot be shown/],
]) {
    test(`a page that cannot be shown says so: ${name}`, async () => {
        const page = await (await running.newContext()).newPage();
        await page.goto(`file://${written(name, text())}`);
        assert.match(await page.getByRole("alert").textContent(), expected);
        await page.context().close();
    });
}

test("a link leads to its section", async () => {
    const opened = await open(running, `file://${written("link", pageOf(rich()))}#threads`);
    assert.ok((await opened.page.locator("#threads").boundingBox()).y < 450);
    await closeClean(opened);
});

test("the policy lets no other script run and nothing be fetched", async () => {
    const { page, context } = await open(running, `file://${written("policy", pageOf(rich()))}`);
    const broken = await page.evaluate(async () => {
        const script = document.createElement("script");
        script.textContent = "globalThis.ran = true";
        document.body.append(script);
        const fetched = await fetch("data:,x").then(
            () => true,
            () => false,
        );
        return { ran: globalThis.ran === true, fetched };
    });
    assert.deepEqual(broken, { ran: false, fetched: false });
    await page.waitForFunction(() => globalThis.breaches.length >= 2);
    await context.close();
});

test("served: the document by token, and a closer look at a window", async () => {
    const page = readFileSync(settings.page, "utf8").replace("connect-src 'none'", "connect-src 'self'");
    const asked = [];
    const server = createServer((request, response) => {
        const address = new URL(request.url, "http://127.0.0.1");
        if (address.pathname === "/") return response.setHeader("content-type", "text/html").end(page);
        const { page: reader, ...parameters } = Object.fromEntries(address.searchParams);
        asked.push(parameters);
        if (parameters.token !== "secret") return response.writeHead(403).end("the token is wrong");
        assert.equal(reader === undefined, address.pathname === "/first");
        const from = Number(address.searchParams.get("from") ?? 0);
        const to = Number(address.searchParams.get("to") ?? 30);
        const slices = Array.from({ length: 61 }, (_, at) => from + ((to - from) * at) / 60);
        const window = address.searchParams.has("from") ? { window: [from, to] } : {};
        response.end(JSON.stringify({ ...rich(), slices, ...window }));
    });
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    const address = `http://127.0.0.1:${server.address().port}`;
    try {
        const opened = await open(running, `${address}/?token=secret`, { served: true });
        await opened.page.locator(".overview .handle.both").focus();
        await opened.page.keyboard.press("+");
        await opened.page.getByRole("button", { name: "Look closer" }).click();
        await opened.page.getByRole("button", { name: "Back to the longer time" }).waitFor();
        assert.deepEqual(asked, [
            { token: "secret" },
            { token: "secret" },
            { from: "7.5", to: "22.5", token: "secret" },
        ]);
        assert.match(await opened.page.locator(".window-text").textContent(), /^The whole of this time, 15\u00a0s/);
        await opened.page.getByRole("button", { name: "Back to the longer time" }).click();
        assert.equal(
            await opened.page.locator(".window-text").textContent(),
            "7.5\u00a0s to 22.5\u00a0s: 15\u00a0s of 30\u00a0s",
            "the window is still selected",
        );
        await closeClean(opened);
        const refused = await (await running.newContext()).newPage();
        await refused.goto(`${address}/?token=guess`);
        assert.match(await refused.getByRole("alert").textContent(), /granary answered 403: the token is wrong/);
        await refused.context().close();
    } finally {
        server.close();
    }
});
