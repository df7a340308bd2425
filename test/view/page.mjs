// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: puts a document into the built page as the command does, and opens it in a browser that notes every complaint.
// Invariant: the page is opened from disk, with the network refused; a complaint of the browser fails the test.
// Must not know: what is tested.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

export const settings = {
    page: process.env.VIEW_PAGE,
    chromium: process.env.VIEW_CHROMIUM,
    modules: process.env.VIEW_MODULES, // where playwright-core is installed
    out: process.env.VIEW_OUT,
    granary: process.env.VIEW_GRANARY, // the command, and what makes traces for it: where they are built
    synthetic: process.env.VIEW_SYNTHETIC,
    tries: Number(process.env.VIEW_TRIES ?? 12), // of what is made at random
};

export function pageOf(document) {
    const empty = '<script id="document" type="application/octet-stream;base64"></script>';
    const page = readFileSync(settings.page, "utf8");
    if (page.split(empty).length !== 2) throw new Error("the page has no one place for the document");
    return page.replace(empty, () => empty.replace("><", `>${gzipSync(JSON.stringify(document)).toString("base64")}<`));
}

export function written(name, text) {
    const path = join(settings.out, `${name}.html`);
    writeFileSync(path, text);
    return path;
}

export async function browser() {
    const { chromium } = createRequire(join(settings.modules, "package.json"))("playwright-core");
    return chromium.launch({ executablePath: settings.chromium, args: ["--no-sandbox", "--disable-gpu"] });
}

// Opens an address; `complaints` gathers errors, refused requests and breaches of the policy.
export async function open(running, address, options = {}) {
    const context = await running.newContext({
        viewport: { width: 1280, height: 900 },
        acceptDownloads: true,
        ...options,
    });
    const page = await context.newPage();
    const complaints = [];
    page.on(
        "console",
        (message) => ["error", "warning"].includes(message.type()) && complaints.push(`console: ${message.text()}`),
    );
    page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
    page.on("requestfailed", (request) => complaints.push(`refused: ${request.url().slice(0, 80)}`));
    page.on("request", (request) => {
        if (!/^(file|blob):/.test(request.url()) && options.served !== true)
            complaints.push(`asked: ${request.url().slice(0, 80)}`);
    });
    await page.addInitScript(() => {
        globalThis.breaches = [];
        addEventListener("securitypolicyviolation", (event) =>
            globalThis.breaches.push(`${event.violatedDirective} ${event.blockedURI}`),
        );
    });
    const start = process.hrtime.bigint();
    await page.goto(address);
    await page.waitForSelector("#page[data-ready]");
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    return { page, context, complaints, seconds };
}

// Turns to paper and waits until the page heard of it: each chart is drawn then, wherever it lies.
export async function toPaper(page) {
    await page.emulateMedia({ media: "print" });
    const kUndrawn = 300; // the width of a canvas that was not drawn
    await page.waitForFunction(
        (undrawn) =>
            document.documentElement.dataset.theme === "light" &&
            [...document.querySelectorAll(".plot canvas")].every((canvas) => canvas.width > undrawn),
        kUndrawn,
    );
}

export async function closeClean({ page, context, complaints }) {
    const breaches = await page.evaluate(() => globalThis.breaches);
    await context.close();
    if (complaints.length + breaches.length > 0)
        throw new Error(`the browser complained: ${[...complaints, ...breaches].join("; ")}`);
}
