// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: takes the picture of one chart of each of some reports.
//    usage: node pictures.mjs MODULES CHROMIUM PAGE TITLE WIDTH PICTURE [...]...
//    (the chart of a title, in a window of a width)
// Invariant: the pages are opened from disk; an error that the browser reports, or a chart that is not there, is a
//    failure.
// Must not know: what is shown.

import { createRequire } from "node:module";
import { join } from "node:path";

const kHeight = 900;
const kDrawn = 400; // ms: what a chart takes to draw itself when it comes into sight

const [modules, executablePath, ...wanted] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (let at = 0; at < wanted.length; at += 4) {
    const [file, title, width, picture] = wanted.slice(at, at + 4);
    const page = await browser.newPage({ viewport: { width: Number(width), height: kHeight }, colorScheme: "light" });
    page.on("pageerror", (error) => {
        throw new Error(`${file}: ${error.message}`);
    });
    await page.goto(`file://${file}`);
    await page.waitForSelector("#page[data-ready]");
    const heading = page.getByRole("heading", { name: title, level: 3, exact: true });
    const chart = page.locator("figure.chart").filter({ has: heading });
    await chart.scrollIntoViewIfNeeded();
    await page.waitForTimeout(kDrawn);
    await chart.screenshot({ path: picture });
    await page.close();
}
await browser.close();
