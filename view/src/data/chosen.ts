// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the function that the reader has chosen, on whatever picture or table.
// Invariant: at most one; who listens is told of each choice, and where to look for it.
// Must not know: who listens.

export type Look = "graph" | "table" | "here";

export class ChosenFunction {
    frame = -1; // in the document's frames; -1: none
    private readonly listeners = new Set<(look: Look) => void>();

    choose(frame: number, look: Look): void {
        this.frame = frame;
        for (const listener of [...this.listeners]) listener(look);
    }
    listen(listener: (look: Look) => void): void {
        this.listeners.add(listener);
    }
}
