// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: mouse and keys that zoom and move a picture, and move the cursor in it: the same for all charts.
// Invariant: a plain wheel and Tab stay the page's; whatever the mouse does, keys do too.
// Must not know: what is drawn.

import type { Span } from "./viewport";

export interface Target {
    // Where one can point, and what takes the keys.
    surface: HTMLElement;
    focus: HTMLElement;
    // The plot within the surface, in its pixels.
    plot(): { left: number; top: number; width: number; height: number };
    x: Span;
    y: Span | null;
    changed(): void; // what is shown
    point(x: number, y: number, event: PointerEvent): void; // in spans' places; the pointer is there
    leave(): void;
    step(dx: number, dy: number, to: "by" | "end"): void; // the keyboard's cursor
    cursor(): { x: number; y: number } | null; // where it is
    enter?(): void;
}

const kNearer = 0.7;
const kDragged = 4; // pixels: less is a click

class Gestures {
    private start: { x: number; y: number; moving: boolean } | null = null;
    private readonly box = document.createElement("div");

    constructor(private readonly target: Target) {
        this.box.className = "zoom-box";
        this.box.hidden = true;
        const { surface, focus } = target;
        surface.append(this.box);
        surface.addEventListener("pointerdown", (event) => this.down(event));
        surface.addEventListener("pointermove", (event) => this.move(event));
        surface.addEventListener("pointerup", (event) => this.up(event));
        surface.addEventListener("pointercancel", () => this.stop());
        surface.addEventListener("pointerleave", () => target.leave());
        surface.addEventListener("dblclick", () => this.reset());
        surface.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
        focus.addEventListener("keydown", (event) => this.key(event));
    }

    // Shares of the plot, of a pixel in the window.
    private shares(event: MouseEvent): { x: number; y: number } {
        const frame = this.target.surface.getBoundingClientRect();
        const plot = this.target.plot();
        const share = (value: number): number => Math.max(0, Math.min(value, 1));
        return {
            x: share((event.clientX - frame.left - plot.left) / plot.width),
            y: share(1 - (event.clientY - frame.top - plot.top) / plot.height),
        };
    }
    private down(event: PointerEvent): void {
        if (event.button > 1 || event.pointerType === "touch") return;
        this.target.focus.focus({ preventScroll: true });
        event.preventDefault();
        this.target.surface.setPointerCapture(event.pointerId);
        this.start = { x: event.clientX, y: event.clientY, moving: event.shiftKey || event.button === 1 };
    }
    private move(event: PointerEvent): void {
        const { x, y } = this.target;
        const here = this.shares(event);
        if (this.start?.moving) {
            const plot = this.target.plot();
            x.move(((this.start.x - event.clientX) / plot.width) * x.width);
            y?.move(((event.clientY - this.start.y) / plot.height) * y.width);
            this.start = { ...this.start, x: event.clientX, y: event.clientY };
            this.target.changed();
        } else if (this.start !== null) {
            this.showBox(this.start, event);
        }
        this.target.point(x.at(here.x), y?.at(here.y) ?? here.y, event);
    }
    private showBox(start: { x: number; y: number }, event: PointerEvent): void {
        const frame = this.target.surface.getBoundingClientRect();
        const plot = this.target.plot();
        const [left, right] = [Math.min(start.x, event.clientX), Math.max(start.x, event.clientX)];
        const [top, bottom] = [Math.min(start.y, event.clientY), Math.max(start.y, event.clientY)];
        this.box.hidden = right - left < kDragged;
        this.box.style.left = `${left - frame.left}px`;
        this.box.style.width = `${right - left}px`;
        this.box.style.top = `${this.target.y ? top - frame.top : plot.top}px`;
        this.box.style.height = `${this.target.y ? bottom - top : plot.height}px`;
    }
    private up(event: PointerEvent): void {
        const start = this.start;
        this.stop();
        if (start === null || start.moving || Math.abs(event.clientX - start.x) < kDragged) return;
        const [a, b] = [this.shares(new MouseEvent("up", { clientX: start.x, clientY: start.y })), this.shares(event)];
        const { x, y } = this.target;
        x.show(x.at(Math.min(a.x, b.x)), x.at(Math.max(a.x, b.x)));
        if (y !== null && Math.abs(event.clientY - start.y) >= kDragged) y.show(y.at(Math.min(a.y, b.y)), y.at(Math.max(a.y, b.y)));
        this.target.changed();
    }
    private stop(): void {
        this.start = null;
        this.box.hidden = true;
    }
    private wheel(event: WheelEvent): void {
        if (!event.ctrlKey) return;
        event.preventDefault();
        const here = this.shares(event);
        this.zoom(this.target.x.at(here.x), this.target.y?.at(here.y) ?? 0, event.deltaY < 0 ? kNearer : 1 / kNearer);
    }
    private zoom(x: number, y: number, factor: number): void {
        this.target.x.zoom(x, factor);
        this.target.y?.zoom(y, factor);
        this.target.changed();
    }
    private reset(): void {
        this.target.x.reset();
        this.target.y?.reset();
        this.target.changed();
    }
    private zoomAtCursor(factor: number): void {
        const { x, y } = this.target;
        const cursor = this.target.cursor() ?? { x: x.at(0.5), y: y?.at(0.5) ?? 0 };
        this.zoom(cursor.x, cursor.y, factor);
    }

    private key(event: KeyboardEvent): void {
        if (event.altKey || event.metaKey || event.ctrlKey) return;
        const { x, y } = this.target;
        const arrows: Record<string, [number, number]> = {
            ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
        };
        const arrow = arrows[event.key];
        if (arrow !== undefined && event.shiftKey) {
            x.move(arrow[0] * x.width * 0.2);
            y?.move(arrow[1] * y.width * 0.2);
            this.target.changed();
        } else if (arrow !== undefined) this.target.step(arrow[0], arrow[1], "by");
        else if (event.key === "PageUp" || event.key === "PageDown") this.target.step(event.key === "PageUp" ? -10 : 10, 0, "by");
        else if (event.key === "Home" || event.key === "End") this.target.step(event.key === "Home" ? -1 : 1, 0, "end");
        else if (event.key === "+" || event.key === "=") this.zoomAtCursor(kNearer);
        else if (event.key === "-") this.zoomAtCursor(1 / kNearer);
        else if (event.key === "0" || event.key === "Escape") this.reset();
        else if (event.key === "Enter" && this.target.enter !== undefined) this.target.enter();
        else return;
        event.preventDefault();
    }
}

export function listenTo(target: Target): void {
    new Gestures(target);
}
