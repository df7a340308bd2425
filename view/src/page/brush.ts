// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: selects the window of time on a picture of the whole run: two edges and what lies between, by mouse or keys; a press
//    without a drag selects the slice at which it points.
// Invariant: shows the window, whoever changed it; edges lie on those of slices.
// Must not know: the picture under it.

import { format } from "../data/units";
import type { TimeWindow } from "../data/window";
import { make } from "../parts/dom";

type Part = "from" | "to" | "both";
const kFar = 10; // slices, with shift

export class Brush {
    readonly element = make("div", { class: "brush" });
    private readonly before = make("div", { class: "shade" });
    private readonly after = make("div", { class: "shade" });
    private readonly handles: Record<Part, HTMLElement>;
    private drag: { part: Part | "new"; start: number; first: number; last: number } | null = null;

    constructor(private readonly window: TimeWindow) {
        this.handles = {
            from: this.handle("from", "Window from"),
            both: this.handle("both", "Window"),
            to: this.handle("to", "Window to"),
        };
        this.element.append(this.before, this.after, this.handles.both, this.handles.from, this.handles.to);
        if (window.count < 2) this.element.classList.add("fixed");
        else this.listen();
        window.listen(() => this.show());
        this.show();
    }

    private handle(part: Part, label: string): HTMLElement {
        const fixed = this.window.count < 2;
        const handle = make("div", {
            class: `handle ${part}`,
            role: "slider",
            "aria-label": label,
            ...(fixed ? { "aria-disabled": "true" } : { tabindex: "0" }),
        });
        handle.addEventListener("keydown", (event) => this.key(part, event));
        return handle;
    }
    private listen(): void {
        this.element.addEventListener("pointerdown", (event) => this.down(event));
        this.element.addEventListener("pointermove", (event) => this.move(event));
        this.element.addEventListener("pointerup", (event) => this.up(event));
        this.element.addEventListener("pointercancel", () => (this.drag = null));
        this.element.addEventListener("dblclick", () => this.window.selectWhole());
    }

    private show(): void {
        const { window } = this;
        const length = window.end - window.begin || 1;
        const [from, to] = [window.from, window.to].map((time) => ((time - window.begin) / length) * 100) as [
            number,
            number,
        ];
        this.before.style.width = `${from}%`;
        this.after.style.left = `${to}%`;
        this.handles.both.style.left = this.handles.from.style.left = `${from}%`;
        this.handles.to.style.left = `${to}%`;
        this.handles.both.style.width = `${to - from}%`;
        this.element.classList.toggle("whole", window.isWhole);
        this.say("from", window.first, 0, window.last - 1, format(window.from, "time"));
        this.say("to", window.last, window.first + 1, window.count, format(window.to, "time"));
        this.say(
            "both",
            window.first,
            0,
            window.count - (window.last - window.first),
            `${format(window.from, "time")} to ${format(window.to, "time")}`,
        );
    }
    private say(part: Part, now: number, least: number, most: number, text: string): void {
        const handle = this.handles[part];
        handle.setAttribute("aria-valuemin", String(least));
        handle.setAttribute("aria-valuemax", String(most));
        handle.setAttribute("aria-valuenow", String(now));
        handle.setAttribute("aria-valuetext", text);
    }

    private timeAt(event: PointerEvent): number {
        const { left, width } = this.element.getBoundingClientRect();
        const share = Math.max(0, Math.min((event.clientX - left) / width, 1));
        return this.window.begin + share * (this.window.end - this.window.begin);
    }
    private down(event: PointerEvent): void {
        if (event.button !== 0) return;
        const parts = Object.entries(this.handles) as [Part, HTMLElement][];
        const held = parts.find(([, handle]) => handle === event.target)?.[0] ?? "new";
        const part = held === "both" && this.window.isWhole ? "new" : held;
        this.element.setPointerCapture(event.pointerId);
        this.drag = { part, start: this.timeAt(event), first: this.window.first, last: this.window.last };
        (part === "new" ? this.handles.both : this.handles[part]).focus({ preventScroll: true });
        event.preventDefault();
    }
    private move(event: PointerEvent): void {
        if (this.drag === null) return;
        const { part, start, first, last } = this.drag;
        const time = this.timeAt(event);
        const edge = this.window.edgeNear(time);
        if (part === "from") this.window.select(Math.min(edge, last - 1), last);
        else if (part === "to") this.window.select(first, Math.max(edge, first + 1));
        else if (part === "both") this.shift(first, last, edge - this.window.edgeNear(start));
        else if (time !== start) this.window.selectTimes(Math.min(start, time), Math.max(start, time));
    }
    private up(event: PointerEvent): void {
        const { drag } = this;
        this.drag = null;
        const isPress = drag?.part === "new" && drag.first === this.window.first && drag.last === this.window.last;
        if (isPress && this.window.isWhole) this.window.selectTimes(this.timeAt(event), this.timeAt(event));
    }
    private shift(first: number, last: number, by: number): void {
        const move = Math.max(-first, Math.min(by, this.window.count - last));
        this.window.select(first + move, last + move);
    }
    private key(part: Part, event: KeyboardEvent): void {
        const { window } = this;
        const { first, last, count } = window;
        const step = event.shiftKey ? kFar : 1;
        const by = {
            ArrowLeft: -step,
            ArrowDown: -step,
            ArrowRight: step,
            ArrowUp: step,
            PageDown: -kFar,
            PageUp: kFar,
            Home: -count,
            End: count,
        }[event.key];
        if (event.key === "Escape" || event.key === "0") window.selectWhole();
        else if (part === "both" && (event.key === "+" || event.key === "-")) {
            const less =
                event.key === "+"
                    ? Math.max(1, Math.floor((last - first) / 4))
                    : -Math.max(1, Math.ceil((last - first) / 2));
            if (last - first > 2 * less) window.select(first + less, last - less);
        } else if (by === undefined) return;
        else if (part === "from") window.select(Math.min(first + by, last - 1), last);
        else if (part === "to") window.select(first, Math.max(last + by, first + 1));
        else this.shift(first, last, by);
        event.preventDefault();
    }
}
