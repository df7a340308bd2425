// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the colours and patterns of blocks mean.
// Invariant: shows the states and threads that occur in the runs, no others.
// Must not know: where the blocks lie.

import { make } from "../parts/dom";
import { stateWords, threadClass, threadName } from "./names";
import type { BlockState } from "./record";
import type { Run } from "./run";

function entry(look: string, words: string): HTMLElement {
    return make("li", {}, make("span", { class: `cell ${look}`, "aria-hidden": "true" }), ` ${words}`);
}

export function legendOf(runs: Run[]): HTMLElement {
    const holders = new Set<number>();
    const states = new Set<BlockState>();
    for (const { record } of runs) {
        for (const block of record.steps.flatMap((step) => [...step.blocks.values()])) {
            if (block === null) continue;
            states.add(block.state);
            if (block.thread !== null) holders.add(block.thread);
        }
    }
    const threads = [...holders].sort((a, b) => a - b);
    const other: BlockState[] = (["remote", "buffered", "free"] as const).filter((state) => states.has(state));
    return make(
        "ul",
        { class: "legend small", "aria-label": "Colours" },
        ...threads.map((thread) => entry(`used ${threadClass(thread)}`, `used by ${threadName(thread)}`)),
        ...other.map((state) => entry(`${state} nobody`, stateWords(state))),
        entry("never nobody", stateWords("never")),
        entry("free nobody changed", "changed in this step"),
    );
}
