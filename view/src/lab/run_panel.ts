// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one allocator at the reader's moment: its totals, what it did in this step, and its heaps.
// Invariant: panels of several allocators show the same moment.
// Must not know: the other panels.

import { format, grouped } from "../data/units";
import { make } from "../parts/dom";
import type { Scene } from "./container_view";
import { eventList } from "./event_list";
import { arrowsOver, fly, positionsIn } from "./moves";
import { placesView } from "./place_view";
import type { Run } from "./run";
import { runClass } from "./time_line";
import type { Walk } from "./walk";

// Lines of events that always have room.
const kMostRows = 7;

function totalsOf(scene: Scene): HTMLElement {
    const { held, used, locks, waits, kernel } = scene.run.totals[scene.step]!;
    const facts: [string, string][] = [
        ["held", format(held, "bytes")],
        ["in use", format(used, "bytes")],
        ["held / in use", used === 0 ? "–" : (held / used).toFixed(2)],
        ["locks so far", grouped(locks)],
        ["waits", grouped(waits)],
        ["from the kernel", format(kernel, "bytes")],
    ];
    const rows = facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
    return make("dl", { class: "totals" }, ...rows);
}

function mostEvents({ record }: Run): number {
    return Math.max(...record.steps.map(({ events }) => events.length));
}

export function runPanel(walk: Walk, at: number): HTMLElement {
    const run = walk.runs[at]!;
    const told = make("div", {});
    // The heaps stay where they are, however much a step does.
    told.style.setProperty("--rows", String(Math.min(kMostRows, Math.max(...walk.runs.map(mostEvents)))));
    const room = make("div", { class: "drawing" });
    let scene: Scene | null = null;
    let arrows: SVGSVGElement | null = null;
    const point = (): void => {
        arrows?.remove();
        if (scene === null || !room.isConnected) return;
        arrows = arrowsOver(room, scene);
        room.append(arrows);
    };
    const show = (from: number): void => {
        const { moment, filter } = walk;
        const step = moment.at[at]!;
        if (step < 0) {
            scene = null;
            told.replaceChildren(make("p", { class: "small" }, "has not begun"));
            room.replaceChildren();
            return;
        }
        scene = {
            run,
            step,
            isOwn: moment.is[at]!,
            block: filter.by === "block" && filter.run === at ? filter.block : null,
            thread: filter.by === "thread" ? filter.thread : null,
        };
        const isOneStep = Math.abs(walk.at - from) === 1;
        const before = isOneStep ? positionsIn(room) : new Map<string, DOMRect>();
        told.replaceChildren(totalsOf(scene), eventList(run, step, scene.isOwn));
        room.replaceChildren(placesView(scene));
        point();
        fly(room, before);
    };
    room.addEventListener("click", (event) => {
        const cell = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-block]") : null;
        if (cell !== null) walk.keep({ by: "block", run: at, block: cell.dataset.block! });
    });
    new ResizeObserver(point).observe(room);
    walk.listen(show);
    show(walk.at);
    const title = make("h2", {}, make("span", { class: `swatch ${runClass(at)}`, "aria-hidden": "true" }), run.name);
    return make("section", { class: "run-panel", "aria-label": run.name }, title, told, room);
}
