// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the thread to which the reader limits the charts that tell threads apart.
// Invariant: one for the whole page, or none: then charts are about all threads.
// Must not know: who listens.

export const kAllThreads = -1;

export class ChosenThread {
    number = kAllThreads; // in the document's threads
    private readonly listeners = new Set<() => void>();

    choose(number: number): void {
        if (number === this.number) return;
        this.number = number;
        for (const listener of [...this.listeners]) listener();
    }
    listen(listener: () => void): void {
        this.listeners.add(listener);
    }
}
