// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the cells of a heat map as values, and as a picture of one pixel each.
// Invariant: 0 is nothing, and not seen.
// Must not know: axes.

import { bytesOf } from "../data/decode";
import type { HeatChart } from "../document";
import { heat } from "./paint";

const kSteps = 254;

export function valueOf(chart: HeatChart, cell: number): number {
    const share = (cell - 1) / kSteps;
    const { low, high } = chart;
    return chart.scale.scale === "log" && low > 0 ? low * (high / low) ** share : low + share * (high - low);
}

export class HeatCells {
    private readonly bytes: Uint8Array;
    private picture: { dark: boolean; canvas: HTMLCanvasElement } | null = null;

    constructor(
        private readonly chart: HeatChart,
        base64: string,
    ) {
        this.bytes = bytesOf(base64);
    }
    at(column: number, row: number): number {
        return this.bytes[row * this.chart.columns + column] ?? 0;
    }
    // Its first row is the picture's highest.
    drawn(dark: boolean): HTMLCanvasElement {
        if (this.picture?.dark === dark) return this.picture.canvas;
        const { columns, rows } = this.chart;
        const canvas = document.createElement("canvas");
        canvas.width = Math.max(1, columns);
        canvas.height = Math.max(1, rows);
        const context = canvas.getContext("2d")!;
        const image = context.createImageData(canvas.width, canvas.height);
        const colours = Array.from({ length: 256 }, (_, cell) => heat((cell - 1) / kSteps, dark));
        for (let row = 0; row < rows; ++row) {
            for (let column = 0; column < columns; ++column) {
                const cell = this.at(column, row);
                if (cell === 0) continue;
                const colour = colours[cell]!;
                image.data.set([colour[0], colour[1], colour[2], 255], ((rows - 1 - row) * columns + column) * 4);
            }
        }
        context.putImageData(image, 0, 0);
        this.picture = { dark, canvas };
        return canvas;
    }
}
