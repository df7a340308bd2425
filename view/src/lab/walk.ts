// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where the reader is: the moment, and which moments the steps go through.
// Invariant: the moment exists; playing ends at the last moment kept.
// Must not know: who listens.

import { momentsKept, type Filter, type Moment } from "./moments";
import type { Run } from "./run";

export const kSpeeds: [name: string, milliseconds: number][] = [
    ["slow", 1600],
    ["normal", 800],
    ["fast", 200],
];
const kNormal = 800;

export class Walk {
    at = 0;
    filter: Filter = { by: "all" };
    kept: number[];
    isPlaying = false;
    private milliseconds = kNormal;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private readonly listeners: ((from: number) => void)[] = [];

    constructor(
        readonly runs: Run[],
        readonly moments: Moment[],
    ) {
        this.kept = momentsKept(moments, runs, this.filter);
    }

    // The listener hears from which moment the reader comes.
    listen(listener: (from: number) => void): void {
        this.listeners.push(listener);
    }
    get moment(): Moment {
        return this.moments[this.at]!;
    }
    get hasNext(): boolean {
        return (this.kept.at(-1) ?? -1) > this.at;
    }
    get hasBack(): boolean {
        return (this.kept[0] ?? this.at) < this.at;
    }

    go(to: number): void {
        const from = this.at;
        this.at = Math.max(0, Math.min(to, this.moments.length - 1));
        this.tell(from);
    }
    next(): void {
        this.go(this.kept.find((at) => at > this.at) ?? this.at);
    }
    back(): void {
        this.go(this.kept.filter((at) => at < this.at).at(-1) ?? this.at);
    }
    first(): void {
        this.go(this.kept[0] ?? 0);
    }
    last(): void {
        this.go(this.kept.at(-1) ?? this.moments.length - 1);
    }
    keep(filter: Filter): void {
        this.filter = filter;
        this.kept = momentsKept(this.moments, this.runs, filter);
        this.tell(this.at);
    }

    setSpeed(milliseconds: number): void {
        this.milliseconds = milliseconds;
    }
    play(): void {
        if (this.isPlaying) return;
        this.isPlaying = true;
        if (this.hasNext) this.tell(this.at);
        else this.first();
        this.wait();
    }
    pause(): void {
        if (!this.isPlaying) return;
        this.isPlaying = false;
        clearTimeout(this.timer);
        this.tell(this.at);
    }

    private wait(): void {
        this.timer = setTimeout(() => {
            if (!this.hasNext) return this.pause();
            this.next();
            this.wait();
        }, this.milliseconds);
    }
    private tell(from: number): void {
        for (const listener of this.listeners) listener(from);
    }
}
