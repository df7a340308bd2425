// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: pictures of every section, light and dark, wide and narrow, and of the page on paper: for eyes, not for a test.
//    VIEW_PAGE=view/dist/index.html VIEW_MODULES=view VIEW_CHROMIUM=/usr/bin/chromium VIEW_OUT=DIR node pictures.mjs
// Invariant: the pictures go to VIEW_OUT alone.
// Must not know: what is right.

import { join } from "node:path";
import { rich } from "./fixture.mjs";
import { browser, closeClean, open, pageOf, settings, written } from "./page.mjs";
import { figure, windowKeys } from "./parts.mjs";

const running = await browser();
const address = `file://${written("rich", pageOf(rich()))}`;
for (const colorScheme of ["light", "dark"]) {
    const opened = await open(running, address, { colorScheme, viewport: { width: 1360, height: 900 } });
    const { page } = opened;
    await page.screenshot({ path: join(settings.out, `${colorScheme}-first.png`) });
    for (const section of await page.locator("section.question").all()) {
        await section.scrollIntoViewIfNeeded();
        await page.waitForTimeout(150);
        await section.screenshot({
            path: join(settings.out, `${colorScheme}-${await section.getAttribute("id")}.png`),
        });
    }
    await closeClean(opened);
}
for (const [name, width, height] of [
    ["narrow", 400, 800],
    ["small", 1000, 700],
    ["huge", 3840, 2160],
]) {
    const opened = await open(running, address, { viewport: { width, height } });
    await opened.page.screenshot({ path: join(settings.out, `${name}.png`) });
    await opened.page.locator("#map").scrollIntoViewIfNeeded();
    await opened.page.waitForTimeout(200);
    await opened.page.screenshot({ path: join(settings.out, `${name}-map.png`) });
    await closeClean(opened);
}
for (const colorScheme of ["light", "dark"]) {
    const opened = await open(running, address, { colorScheme, viewport: { width: 1360, height: 900 } });
    const { page } = opened;
    const shot = (name) => page.screenshot({ path: join(settings.out, `${colorScheme}-${name}.png`) });
    await windowKeys(page, "from", "Shift+ArrowRight", "ArrowRight");
    await windowKeys(page, "to", "Shift+ArrowLeft", "Shift+ArrowLeft");
    await page.evaluate(() => scrollTo(0, 0));
    await shot("window");
    await figure(page, "Allocations by size")
        .getByRole("button", { name: /^Table/ })
        .click();
    await page.locator("#sizes").scrollIntoViewIfNeeded();
    await shot("table");
    const map = figure(page, "Memory map");
    await map.locator("label").filter({ hasText: "resident" }).click();
    await map.locator(".plot").focus();
    for (const key of [
        "ArrowRight",
        ...new Array(40).fill("ArrowUp"),
        ...new Array(15).fill("ArrowRight"),
        "+",
        "+",
        "+",
    ])
        await page.keyboard.press(key);
    await map.locator(".plot").hover({ position: { x: 600, y: 200 } });
    await shot("map-zoomed");
    await figure(page, "Who frees whose blocks").locator("label").filter({ hasText: "Flow" }).click();
    await page.locator("#threads").scrollIntoViewIfNeeded();
    await shot("flow");
    const flame = figure(page, "Allocated bytes by call");
    await flame.getByRole("searchbox").fill("std::");
    await flame.locator("label").filter({ hasText: "From the allocation up" }).click();
    await flame.locator(".plot").hover({ position: { x: 300, y: 60 } });
    await shot("flame-turned");
    await page.getByRole("button", { name: "Keys" }).click();
    await shot("keys");
    await closeClean(opened);
}
const paper = await open(running, address, { colorScheme: "dark" });
await paper.page.pdf({ path: join(settings.out, "paper.pdf"), format: "A4", printBackground: true });
await closeClean(paper);
await running.close();
