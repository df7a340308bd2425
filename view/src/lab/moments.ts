// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the moments that the reader steps through: all runs' steps, brought together by the script's lines
//    or, where a program ran, by their numbers.
// Invariant: each step of each run is at one moment, in the run's order. At a moment that is none of its own a run is
//    where it was before.
// Must not know: what a step does.

import type { Step } from "./record";
import type { Run } from "./run";

export interface Moment {
    step: Step; // of the first run that has one here: the call, its thread and its line
    at: number[]; // of each run: its step; -1: it has not begun
    is: boolean[]; // of each run: whether the step is of this moment
}

// Without a script the calls of a program are told by their number alone: blocks have other names in each run.
function isTheSameCall(one: Step, other: Step): boolean {
    if (one.line === null && other.line === null) return true;
    return one.line === other.line && one.thread === other.thread && one.call === other.call;
}

export function momentsOf(runs: Run[]): Moment[] {
    const moments: Moment[] = [];
    const next = runs.map(() => 0);
    for (;;) {
        const leader = runs.findIndex((run, at) => next[at]! < run.count);
        if (leader < 0) return moments;
        const step = runs[leader]!.step(next[leader]!);
        const is = runs.map((run, at) => next[at]! < run.count && isTheSameCall(run.step(next[at]!), step));
        is.forEach((here, at) => here && ++next[at]!);
        moments.push({ step, at: next.map((count) => count - 1), is });
    }
}

// Which moments the reader steps through.
export type Filter = { by: "all" } | { by: "thread"; thread: number } | { by: "block"; run: number; block: string };

export function momentsKept(moments: Moment[], runs: Run[], filter: Filter): number[] {
    const keeps = (moment: Moment): boolean => {
        if (filter.by === "thread") return moment.step.thread === filter.thread;
        if (filter.by === "all") return true;
        const { run, block } = filter;
        return moment.is[run] === true && runs[run]!.step(moment.at[run]!).blocks.has(block);
    };
    return moments.flatMap((moment, at) => (keeps(moment) ? [at] : []));
}

// The moment of a run's step.
export function momentOf(moments: Moment[], run: number, step: number): number {
    return moments.findIndex((moment) => moment.is[run] === true && moment.at[run] === step);
}
