// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: shows what a step moved: an arrow from where it stood, and a short flight for readers who want motion.
// Invariant: nothing is covered that could be pressed; without motion the arrow alone tells.
// Must not know: why something moved.

import { draw } from "../parts/svg";
import type { Scene } from "./container_view";
import type { StepEvent } from "./record";

const kMilliseconds = 450;
const kHead = 7; // pixels of the arrow's head
const kBehind = 8; // pixels, so that no word is covered
const kInside = 60; // pixels
const kBend = 0.18; // of an arrow's length

// Where the containers stand on the screen.
export function positionsIn(panel: HTMLElement): Map<string, DOMRect> {
    const found = [...panel.querySelectorAll<HTMLElement>(".container")];
    return new Map(found.map((element) => [element.dataset.id!, element.getBoundingClientRect()]));
}

export function fly(panel: HTMLElement, before: Map<string, DOMRect>): void {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const element of panel.querySelectorAll<HTMLElement>(".container")) {
        const from = before.get(element.dataset.id!);
        const to = element.getBoundingClientRect();
        if (from === undefined || (from.left === to.left && from.top === to.top)) continue;
        const start = `translate(${from.left - to.left}px, ${from.top - to.top}px)`;
        element.animate([{ transform: start }, { transform: "none" }], {
            duration: kMilliseconds,
            easing: "ease-in-out",
        });
    }
}

// From behind the one to the upper edge of the other.
function arrow(from: DOMRect, to: DOMRect, ground: DOMRect): SVGGElement {
    const [x1, y1] = [from.right + kBehind - ground.left, from.top + from.height / 2 - ground.top];
    const [x2, y2] = [to.left + Math.min(to.width / 2, kInside) - ground.left, to.top - ground.top];
    const [bendX, bendY] = [(x1 + x2) / 2 + (y2 - y1) * kBend, (y1 + y2) / 2 - (x2 - x1) * kBend];
    const angle = Math.atan2(y2 - bendY, x2 - bendX);
    const corner = (turn: number): string =>
        `${x2 - kHead * Math.cos(angle + turn)},${y2 - kHead * Math.sin(angle + turn)}`;
    return draw(
        "g",
        {},
        draw("path", { d: `M${x1},${y1} Q${bendX},${bendY} ${x2},${y2}` }),
        draw("polygon", { points: `${x2},${y2} ${corner(0.45)} ${corner(-0.45)}` }),
        draw("circle", { cx: x1, cy: y1, r: 3 }),
    );
}

// From where each thing came and where it was in the end, however often it moved in between.
function journeys(events: StepEvent[]): Map<string, { from: string | null; to: string | null }> {
    const all = new Map<string, { from: string | null; to: string | null }>();
    for (const event of events) {
        if (event.kind === "move") all.set(event.what, { from: all.get(event.what)?.from ?? event.from, to: event.to });
    }
    return all;
}

// The arrows lie over the panel, which must be on the page.
export function arrowsOver(panel: HTMLElement, { run, step, isOwn }: Scene): SVGSVGElement {
    const ground = panel.getBoundingClientRect();
    const sheet = draw("svg", { class: "arrows", width: ground.width, height: ground.height, "aria-hidden": "true" });
    if (!isOwn) return sheet;
    const find = (id: string): Element | null =>
        panel.querySelector(`[data-id="${CSS.escape(id)}"], [data-block="${CSS.escape(id)}"]`);
    for (const [what, ends] of journeys(run.step(step).events)) {
        if (ends.from === null || ends.from === ends.to) continue;
        const from = find(ends.from);
        const to = find(what) ?? (ends.to === null ? null : find(ends.to));
        if (from === null || to === null) continue;
        const label = from.querySelector(":scope > .place-label strong") ?? from;
        sheet.append(arrow(label.getBoundingClientRect(), to.getBoundingClientRect(), ground));
    }
    return sheet;
}
