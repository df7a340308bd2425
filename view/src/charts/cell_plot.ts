// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the canvas under bars and heat maps: its plot area with axes, ticks and grid.
// Invariant: what is drawn inside lies within the plot area.
// Must not know: what the cells hold.

import type { Colours } from "../parts/theme";
import { make } from "../parts/dom";
import type { CellAxis, Tick } from "./cell_axis";
import { kFont, sized } from "./paint";
import type { Span } from "./viewport";

export interface Area {
    left: number;
    top: number;
    width: number;
    height: number;
}

const kTickRoom = 64; // pixels for a tick's text, along x
const kRowRoom = 26;

export class CellPlot {
    readonly canvas = make("canvas", {});
    readonly element = make("div", { class: "plot", tabindex: "0" }, this.canvas);
    area: Area = { left: 0, top: 0, width: 1, height: 1 };

    start(width: number, height: number, left: number, right: number): CanvasRenderingContext2D {
        const context = sized(this.canvas, width, height);
        context.font = kFont;
        this.area = { left, top: 10, width: Math.max(1, width - left - right), height: height - 34 };
        context.clearRect(0, 0, width, height);
        return context;
    }

    x(span: Span, position: number): number {
        return this.area.left + span.shareOf(position) * this.area.width;
    }
    y(span: Span, position: number): number {
        return this.area.top + (1 - span.shareOf(position)) * this.area.height;
    }

    clip(context: CanvasRenderingContext2D, draw: () => void): void {
        const { left, top, width, height } = this.area;
        context.save();
        context.beginPath();
        context.rect(left, top, width, height);
        context.clip();
        draw();
        context.restore();
    }

    bottomAxis(context: CanvasRenderingContext2D, axis: CellAxis, span: Span, colours: Colours): void {
        const bottom = this.area.top + this.area.height;
        context.fillStyle = colours.quiet;
        context.strokeStyle = colours.line;
        context.textAlign = "center";
        context.textBaseline = "top";
        let free = -Infinity;
        for (const tick of axis.ticks(span.from, span.to, Math.max(2, Math.floor(this.area.width / kTickRoom)))) {
            const x = this.x(span, tick.position);
            stroke(context, x, bottom, x, bottom + 4);
            const half = context.measureText(tick.text).width / 2;
            if (x - half < free) continue;
            context.fillText(tick.text, Math.min(x, this.area.left + this.area.width + 14 - half), bottom + 8);
            free = x + half + 10;
        }
        stroke(context, this.area.left, bottom + 0.5, this.area.left + this.area.width, bottom + 0.5);
    }
    rowTicks(axis: CellAxis, span: Span): Tick[] {
        return axis.ticks(span.from, span.to, Math.max(2, Math.floor(this.area.height / kRowRoom)));
    }
    leftAxis(context: CanvasRenderingContext2D, ticks: { y: number; text: string }[], colours: Colours, grid: boolean): void {
        context.fillStyle = colours.quiet;
        context.strokeStyle = colours.line;
        context.textAlign = "right";
        context.textBaseline = "middle";
        let free = Infinity;
        for (const { y, text } of [...ticks].sort((a, b) => b.y - a.y)) {
            stroke(context, this.area.left - (grid ? 0 : 4), y, this.area.left + (grid ? this.area.width : 0), y);
            if (y > free) continue;
            context.fillText(text, this.area.left - 8, y);
            free = y - 14;
        }
    }
}

export function stroke(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
}
