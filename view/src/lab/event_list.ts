// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what an allocator did in one step, in words: rules of its paper, locks, moves, memory of the kernel.
// Invariant: the words stand in the order in which it happened, or in which each first happened.
// Must not know: the drawing.

import { format, grouped } from "../data/units";
import { make } from "../parts/dom";
import { placeName, thingName } from "./names";
import type { StepEvent } from "./record";
import type { Run } from "./run";

// A step with more events is told by its different events, each with how often it happened.
export const kMostEvents = 12;

interface Told {
    kind: StepEvent["kind"];
    text: string;
    sort: string; // events of one sort are told together
    cite: string | null;
    times: number;
}

function toldOf(run: Run, step: number, event: StepEvent): Told {
    const { kind } = event;
    const place = (id: string | null): string => placeName(run, id, step);
    const simply = (text: string): Told => ({ kind, text, sort: text, cite: null, times: 1 });
    switch (kind) {
        case "lock":
            return simply(`takes the lock of ${thingName(run, event.place, step)}`);
        case "unlock":
            return simply(`releases the lock of ${thingName(run, event.place, step)}`);
        case "wait":
            return simply(`waits for the lock of ${thingName(run, event.place, step)}`);
        case "rule":
            return { ...simply(event.text), cite: event.cite };
        case "move": {
            const way = `${place(event.from)} → ${place(event.to)}`;
            return { ...simply(`${thingName(run, event.what, step)} moves: ${way}`), sort: `moves: ${way}` };
        }
        case "kernel":
            return simply(
                event.bytes < 0
                    ? `returns ${format(-event.bytes, "bytes")} to the kernel`
                    : `gets ${format(event.bytes, "bytes")} from the kernel`,
            );
    }
}

function summed(all: Told[]): Told[] {
    const different = new Map<string, Told>();
    for (const one of all) {
        const known = different.get(one.sort);
        if (known === undefined) different.set(one.sort, { ...one });
        else different.set(one.sort, { ...known, text: one.sort, times: known.times + 1 });
    }
    return [...different.values()];
}

function row({ kind, text, cite, times }: Told): HTMLElement {
    return make(
        "li",
        { class: kind },
        text,
        ...(cite === null ? [] : [" ", make("cite", {}, cite)]),
        ...(times === 1 ? [] : [make("span", { class: "times" }, ` × ${grouped(times)}`)]),
    );
}

export function eventList(run: Run, step: number, isOwn: boolean): HTMLElement {
    if (!isOwn) return make("p", { class: "events small" }, "has no step here");
    const all = run.step(step).events.map((event) => toldOf(run, step, event));
    if (all.length === 0) return make("p", { class: "events small" }, "takes no lock and applies no rule");
    return make("ol", { class: "events" }, ...(all.length > kMostEvents ? summed(all) : all).map(row));
}
