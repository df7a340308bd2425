// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: starts the page: gets the document and shows it, or says in one line why not.
// Invariant: an error is seen by the reader.
// Must not know: what is on the page.

import "uplot/dist/uPlot.min.css";
import "./style/ground.css";
import "./style/layout.css";
import "./style/charts.css";
import "./style/print.css";
import { sourceOf } from "./data/source";
import type { ReportDocument } from "./document";
import { make } from "./parts/dom";
import { Theme } from "./parts/theme";
import { showPage } from "./page/page";

const root = document.getElementById("page")!;
const theme = new Theme();

function say(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    root.prepend(make("p", { class: "failed", role: "alert" }, `This report cannot be shown. ${text}`));
}

async function start(): Promise<void> {
    const source = sourceOf(document, location);
    const { refine } = source;
    const show = (report: ReportDocument, back: (() => void) | null): void => {
        const again = (): void => show(report, back);
        const closer = refine === null ? null : (from: number, to: number) => {
            refine(from, to).then((finer) => show(finer, again)).catch(say);
        };
        showPage(root, report, theme, { closer, back });
    };
    show(await source.whole(), null);
    root.dataset.ready = "true";
}

start().catch(say);
