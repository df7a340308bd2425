// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what makes series and cells tell apart: colours, dashes, patterns, and a scale of colours from low to high.
// Invariant: never colour alone: series have a dash and a pattern, too; more is farther from the ground in both themes.
// Must not know: any chart.

import type { Colours } from "../parts/theme";

const kViridis = ["440154", "482475", "414487", "355f8d", "2a788e", "21918c", "22a884", "44bf70", "7ad151", "bddf26", "fde725"].map(
    (hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number],
);

export type Rgb = [number, number, number];

// From 0 to 1.
export function heat(share: number, dark: boolean): Rgb {
    const at = (dark ? share : 1 - share) * (kViridis.length - 1);
    const low = Math.max(0, Math.min(Math.floor(at), kViridis.length - 2));
    const [a, b] = [kViridis[low]!, kViridis[low + 1]!];
    return [0, 1, 2].map((part) => Math.round(a[part]! + (b[part]! - a[part]!) * (at - low))) as Rgb;
}

export function css([red, green, blue]: Rgb): string {
    return `rgb(${red} ${green} ${blue})`;
}

// Black or white, whichever reads better on the colour.
export function inkOn([red, green, blue]: Rgb): string {
    return red * 0.299 + green * 0.587 + blue * 0.114 > 140 ? "#101010" : "#ffffff";
}

const kDashes = [[], [8, 4], [2, 3], [12, 4, 2, 4], [5, 5], [2, 6], [14, 3]];

export function dashOf(series: number): number[] {
    return kDashes[series % kDashes.length]!;
}

export function colourOf(series: number, colours: Colours): string {
    return colours.series[series % colours.series.length]!;
}

// Lines in the colour of the series on a ground of it, pale; the first series is plain.
export function patternOf(series: number, colours: Colours, context: CanvasRenderingContext2D): CanvasPattern | string {
    const colour = colourOf(series, colours);
    const size = 8 * devicePixelRatio;
    const tile = document.createElement("canvas");
    tile.width = tile.height = Math.round(size);
    const brush = tile.getContext("2d")!;
    brush.fillStyle = colours.ground;
    brush.fillRect(0, 0, size, size);
    brush.globalAlpha = 0.45;
    brush.fillStyle = colour;
    brush.fillRect(0, 0, size, size);
    brush.globalAlpha = 1;
    brush.strokeStyle = brush.fillStyle = colour;
    brush.lineWidth = size / 6;
    const lines: [number, number, number, number][][] = [
        [],
        [[0, size, size, 0], [-size, size, size, -size], [0, 2 * size, 2 * size, 0]],
        [[0, size / 2, size, size / 2]],
        [[0, 0, size, size], [-size, 0, size, 2 * size], [0, -size, 2 * size, size]],
        [[size / 2, 0, size / 2, size]],
        [[0, size / 2, size, size / 2], [size / 2, 0, size / 2, size]],
    ];
    for (const [x0, y0, x1, y1] of lines[series % lines.length]!) {
        brush.beginPath();
        brush.moveTo(x0, y0);
        brush.lineTo(x1, y1);
        brush.stroke();
    }
    return context.createPattern(tile, "repeat") ?? colour;
}

// A canvas that fills its parent, sharp on every screen; what is drawn counts in CSS pixels.
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
    const ratio = devicePixelRatio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}

export const kFont = "12px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
