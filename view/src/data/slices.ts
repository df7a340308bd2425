// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: values summed over the slices of the window, of all threads or of one; where slices are changes, what was so at its end.
// Invariant: plain sums in the order of the slices; whole numbers below 2^53 are exact.
// Must not know: what is counted.

import type { BarsChart, FlameChart, FlamePart } from "../document";
import { kAllThreads } from "./chosen_thread";
import type { TimeWindow } from "./window";

export function barsInWindow(series: BarsChart["series"][number], buckets: number, window: TimeWindow): number[] {
    if (series.slices === undefined) return series.values ?? new Array<number>(buckets).fill(0);
    const sums = new Array<number>(buckets).fill(0);
    for (const slice of series.slices.slice(window.first, window.last)) {
        for (let at = 0; at < buckets; ++at) sums[at] = (sums[at] ?? 0) + (slice[at] ?? 0);
    }
    return sums;
}

// Of the whole run, in no order.
export function allValues(series: BarsChart["series"][number]): number[] {
    return series.slices === undefined ? (series.values ?? []) : series.slices.flat();
}

export function nodesInWindow(
    measure: FlameChart["measures"][number],
    nodes: number,
    window: TimeWindow,
    thread = kAllThreads,
): Float64Array {
    const sums = new Float64Array(nodes);
    const add = (part: FlamePart): void =>
        part.nodes.forEach((node, at) => {
            if (thread === kAllThreads || part.threads?.[at] === thread)
                sums[node] = (sums[node] ?? 0) + (part.values[at] ?? 0);
        });
    if (measure.slices === undefined) {
        if (thread === kAllThreads) sums.set(measure.values ?? []);
        else if (measure.by_thread !== undefined) add(measure.by_thread);
        return sums;
    }
    const first = measure.running === true ? 0 : window.first;
    measure.slices.slice(first, window.last).forEach(add);
    return sums;
}
