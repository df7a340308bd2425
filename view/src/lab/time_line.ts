// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: memory held and in use over all moments, one curve for each allocator, and the handle that moves the reader.
// Invariant: all curves have one scale; a slider for the mouse, the finger and the keyboard.
// Must not know: the heaps.

import { format } from "../data/units";
import { make } from "../parts/dom";
import { draw } from "../parts/svg";
import type { Walk } from "./walk";

const kHeight = 124;
const kLeft = 64; // room for the scale
const kRight = 14;
const kTop = 10;
const kBottom = 22;
const kRuns = 6; // styles of curves

export function runClass(run: number): string {
    return `run-${(run % kRuns) + 1}`;
}

export class TimeLine {
    readonly element: HTMLElement;
    private readonly plot: HTMLElement;
    private readonly cursor = draw("line", { class: "cursor", y1: kTop, y2: kHeight - kBottom });
    private readonly kept = draw("path", { class: "kept" });
    private width = 0;

    constructor(private readonly walk: Walk) {
        this.plot = make("div", {
            class: "time-line-plot",
            role: "slider",
            tabindex: "0",
            "aria-label": "Step",
            "aria-valuemin": "1",
            "aria-valuemax": String(walk.moments.length),
        });
        this.plot.addEventListener("pointerdown", (event) => {
            this.plot.setPointerCapture(event.pointerId);
            this.follow(event);
        });
        this.plot.addEventListener("pointermove", (event) => {
            if (this.plot.hasPointerCapture(event.pointerId)) this.follow(event);
        });
        this.element = make(
            "section",
            { class: "time-line", "aria-label": "Memory over the steps" },
            this.legend(),
            this.plot,
        );
        new ResizeObserver(() => this.draw()).observe(this.plot);
        walk.listen(() => this.place());
    }

    private legend(): HTMLElement {
        const { runs } = this.walk;
        const sign = (name: string): SVGSVGElement =>
            draw(
                "svg",
                { width: 26, height: 10, class: name, "aria-hidden": "true" },
                draw("path", { class: "held", d: "M0,5 H26" }),
            );
        const held = runs.map((run, at) =>
            make("span", {}, sign(runClass(at)), runs.length > 1 ? ` held by ${run.name}` : " held"),
        );
        const used = draw(
            "svg",
            { width: 26, height: 10, "aria-hidden": "true" },
            draw("rect", { class: "used", width: 26, height: 10 }),
        );
        return make("p", { class: "small curves" }, ...held, make("span", {}, used, " in use"));
    }

    private follow(event: PointerEvent): void {
        const part = (event.clientX - this.plot.getBoundingClientRect().left - kLeft) / (this.width - kLeft - kRight);
        this.walk.go(Math.round(part * (this.walk.moments.length - 1)));
    }
    private x(moment: number): number {
        return kLeft + (moment / Math.max(this.walk.moments.length - 1, 1)) * (this.width - kLeft - kRight);
    }

    private draw(): void {
        this.width = this.plot.clientWidth;
        if (this.width === 0) return;
        const { runs, moments } = this.walk;
        const totals = (run: number, moment: number): { held: number; used: number } =>
            runs[run]!.totals[moments[moment]!.at[run]!] ?? { held: 0, used: 0 };
        const top = Math.max(1, ...runs.flatMap((run) => run.totals.flatMap(({ held, used }) => [held, used])));
        const y = (bytes: number): number => kHeight - kBottom - (bytes / top) * (kHeight - kBottom - kTop);
        const stairs = (value: (moment: number) => number): string =>
            moments
                .map((_, at) => (at === 0 ? `M${this.x(0)},${y(value(0))}` : `H${this.x(at)} V${y(value(at))}`))
                .join(" ");
        const used = stairs((moment) => Math.max(...runs.map((_, run) => totals(run, moment).used)));
        const sheet = draw("svg", { width: this.width, height: kHeight, "aria-hidden": "true" });
        for (const bytes of [top, top / 2, 0]) {
            sheet.append(
                draw("line", { class: "grid", x1: kLeft, x2: this.width - kRight, y1: y(bytes), y2: y(bytes) }),
                draw("text", { x: kLeft - 8, y: y(bytes) + 4, "text-anchor": "end" }, format(bytes, "bytes")),
            );
        }
        sheet.append(draw("path", { class: "used", d: `${used} V${y(0)} H${kLeft} Z` }));
        runs.forEach((_, run) => {
            const curve = draw("path", { class: "held", d: stairs((moment) => totals(run, moment).held) });
            sheet.append(draw("g", { class: runClass(run) }, curve));
        });
        const steps = `${moments.length} steps`;
        sheet.append(
            draw("text", { x: kLeft, y: kHeight - 6 }, "1"),
            draw("text", { x: this.width - kRight, y: kHeight - 6, "text-anchor": "end" }, steps),
            this.kept,
            this.cursor,
        );
        this.plot.replaceChildren(sheet);
        this.place();
    }

    private place(): void {
        const { walk } = this;
        const x = this.x(walk.at);
        this.cursor.setAttribute("x1", String(x));
        this.cursor.setAttribute("x2", String(x));
        const marks = walk.filter.by === "all" ? [] : walk.kept;
        this.kept.setAttribute("d", marks.map((at) => `M${this.x(at)},${kHeight - kBottom} v5`).join(" "));
        this.plot.setAttribute("aria-valuenow", String(walk.at + 1));
        this.plot.setAttribute("aria-valuetext", `step ${walk.at + 1}: ${walk.moment.step.call}`);
    }
}
