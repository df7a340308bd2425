// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where each call lies in a flame graph that is zoomed to one of them.
// Invariant: the callers of the zoomed call lie over it as wide as all; what is narrower than a pixel is not placed.
// Must not know: the canvas.

import type { Call } from "../data/calls";

export interface Placed {
    call: Call;
    left: number;
    width: number;
    row: number;
}

const kLeast = 0.8; // pixels

export function layout(zoomed: Call, width: number): Placed[] {
    const placed: Placed[] = [];
    for (let call = zoomed.parent; call !== null; call = call.parent) placed.unshift({ call, left: 0, width, row: call.depth });
    const place = (call: Call, left: number, scale: number): void => {
        const wide = call.total * scale;
        if (wide < kLeast) return;
        placed.push({ call, left, width: wide, row: call.depth });
        let at = left;
        for (const below of call.children) {
            place(below, at, scale);
            at += below.total * scale;
        }
    };
    if (zoomed.total > 0) place(zoomed, 0, width / zoomed.total);
    return placed;
}
