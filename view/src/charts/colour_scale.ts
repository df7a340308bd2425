// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the strip below a picture that says which colour is how much.
// Invariant: its lowest, middle and highest colour are named.
// Must not know: what the colours stand for.

import type { Colours } from "../parts/theme";
import { css, heat, kFont, sized } from "./paint";

const kWidth = 300; // pixels: it fits on a telephone
const kHeight = 34;
const kStrip = 10;
const kStops: [number, CanvasTextAlign][] = [
    [0, "left"],
    [0.5, "center"],
    [1, "right"],
];

// Makes its room before anything is painted.
export function sizeColourScale(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    return sized(canvas, kWidth, kHeight);
}

// `text` names the colour at a share of the strip, from 0 to 1.
export function paintColourScale(canvas: HTMLCanvasElement, colours: Colours, text: (share: number) => string): void {
    const context = sizeColourScale(canvas);
    for (let x = 0; x < kWidth; ++x) {
        context.fillStyle = css(heat(x / (kWidth - 1), colours.dark));
        context.fillRect(x, 0, 1, kStrip);
    }
    context.font = kFont;
    context.fillStyle = colours.quiet;
    context.textBaseline = "top";
    for (const [share, align] of kStops) {
        context.textAlign = align;
        context.fillText(text(share), share * kWidth, kStrip + 6);
    }
}
