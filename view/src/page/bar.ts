// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the bar that stays at the top: the program, the window on a small picture of the run, the page's switches.
// Invariant: nothing here is to be had only here.
// Must not know: the charts.

import { sized } from "../charts/paint";
import { make } from "../parts/dom";
import { keysDialog } from "../parts/keys_dialog";
import { Brush } from "./brush";
import type { Surroundings } from "./figure";
import { kKeys } from "./keys";

const kHeight = 30;

function small({ document: report, window, theme }: Surroundings): HTMLElement[] {
    const chart = report.overview;
    const first = chart?.series[0];
    if (chart === null || first === undefined || window.count < 2) return [];
    // Of what is compared the most at a time.
    const all = report.compared === undefined ? [first] : chart.series;
    const values = chart.at.map((_, at) => Math.max(...all.map((series) => series.values[at] ?? 0)));
    const canvas = make("canvas", { "aria-hidden": "true" });
    const room = make("div", { class: "small-run" }, canvas, new Brush(window).element);
    const top = values.reduce((most, value) => Math.max(most, value), 0) || 1;
    const draw = (): void => {
        const width = room.clientWidth;
        if (width === 0) return;
        const context = sized(canvas, width, kHeight);
        const x = (time: number): number => ((time - window.begin) / (window.end - window.begin)) * width;
        context.fillStyle = theme.now.line;
        context.beginPath();
        context.moveTo(0, kHeight);
        chart.at.forEach((time, at) => context.lineTo(x(time), kHeight - (values[at]! / top) * (kHeight - 4)));
        context.lineTo(width, kHeight);
        context.fill();
    };
    new ResizeObserver(draw).observe(room);
    theme.listen(draw);
    return [room];
}

export function barOf(around: Surroundings): HTMLElement {
    const { theme, document: report } = around;
    const flip = make("button", { type: "button", click: () => theme.flip() });
    const name = (): void => void (flip.textContent = theme.isDark ? "Light" : "Dark");
    theme.listen(name);
    name();
    const keys = keysDialog(kKeys);
    const ask = make("button", { type: "button", click: () => keys.showModal() }, "Keys");
    const top = make("a", { href: "#top", class: "bar-title" }, report.title);
    return make(
        "div",
        { class: "bar", role: "toolbar", "aria-label": "Page" },
        top,
        ...small(around),
        make("div", { class: "switches" }, ask, flip),
        keys,
    );
}
