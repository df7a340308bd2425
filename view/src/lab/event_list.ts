// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what an allocator did in one step, in words: rules of its paper, locks, moves, memory of the kernel.
// Invariant: the words stand in the order in which it happened.
// Must not know: the drawing.

import { format } from "../data/units";
import { make } from "../parts/dom";
import { placeName, thingName } from "./names";
import type { StepEvent } from "./record";
import type { Run } from "./run";

function wordsOf(run: Run, step: number, event: StepEvent): (Node | string)[] {
    const place = (id: string | null): string => placeName(run, id, step);
    switch (event.kind) {
        case "lock":
            return [`takes the lock of ${place(event.place)}`];
        case "unlock":
            return [`releases the lock of ${place(event.place)}`];
        case "wait":
            return [`waits for the lock of ${place(event.place)}`];
        case "rule":
            return [event.text, " ", make("cite", {}, event.cite)];
        case "move":
            return [`${thingName(run, event.what, step)} moves from ${place(event.from)} to ${place(event.to)}`];
        case "kernel":
            return [
                event.bytes < 0
                    ? `returns ${format(-event.bytes, "bytes")} to the kernel`
                    : `gets ${format(event.bytes, "bytes")} from the kernel`,
            ];
    }
}

export function eventList(run: Run, step: number, isOwn: boolean): HTMLElement {
    if (!isOwn) return make("p", { class: "events small" }, "has no step here");
    const { events } = run.step(step);
    if (events.length === 0) return make("p", { class: "events small" }, "takes no lock and applies no rule");
    return make(
        "ol",
        { class: "events" },
        ...events.map((event) => make("li", { class: event.kind }, ...wordsOf(run, step, event))),
    );
}
