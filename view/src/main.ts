// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: starts the page: gets the document and shows it, or says in one line why not.
// Invariant: an error is seen by the reader. A first picture gives way to the whole, and the reader stays where he is.
// Must not know: what is on the page.

import "uplot/dist/uPlot.min.css";
import "./style/ground.css";
import "./style/parts.css";
import "./style/layout.css";
import "./style/charts.css";
import "./style/print.css";
import { sourceOf, Superseded } from "./data/source";
import type { TimeWindow } from "./data/window";
import type { ReportDocument } from "./document";
import { make } from "./parts/dom";
import { Theme } from "./parts/theme";
import { showPage } from "./page/page";
import { ReaderPlace } from "./page/reader_place";
import { Working } from "./page/working";

const root = document.getElementById("page")!;
const theme = new Theme();
const working = new Working();
root.before(working.element);

function say(error: unknown): void {
    if (error instanceof Superseded) return;
    working.end();
    const text = error instanceof Error ? error.message : String(error);
    if (root.querySelector("main") !== null) working.fail(`What is here stays; more cannot be shown. ${text}`);
    else root.replaceChildren(make("p", { class: "failed", role: "alert" }, `This report cannot be shown. ${text}`));
}

async function start(): Promise<void> {
    const source = sourceOf(document, location);
    const { first, refine } = source;
    const focus = (selector: string): void => root.querySelector<HTMLElement>(selector)?.focus();
    const show = (report: ReportDocument, back: (() => void) | null): TimeWindow => {
        const closer = (from: number, to: number): void => {
            const place = new ReaderPlace(root, window);
            const again = (): void => {
                place.restoreWindow(show(report, back));
                focus(".overview .handle.both");
            };
            working.begin("Looking closer …");
            refine!(from, to, working.tell)
                .then((finer) => {
                    working.end();
                    show(finer, again);
                    focus(".back");
                })
                .catch(say);
        };
        const isServed = refine !== null;
        const window = showPage(root, report, theme, { closer: isServed ? closer : null, back, isServed });
        return window;
    };
    if (first === null) {
        show(await source.whole(working.tell), null);
    } else {
        working.begin("This is a first picture. The whole is being made …");
        const whole = source.whole(working.tell);
        whole.catch(() => {}); // it is waited for below
        const window = showPage(root, await first(), theme, { closer: null, back: null, isServed: true });
        root.dataset.first = "true";
        const report = await whole;
        working.end();
        const place = new ReaderPlace(root, window);
        place.restore(show(report, null));
    }
    root.dataset.ready = "true";
}

start().catch(say);
