// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the list from which the reader chooses a thread, at each chart that tells threads apart.
// Invariant: all lists of the page show the same choice.
// Must not know: what a chart does with it.

import { kAllThreads } from "../data/chosen_thread";
import { make } from "../parts/dom";
import type { Place } from "./chart_view";

export function threadControl(place: Place): HTMLElement[] {
    const { thread } = place;
    const names = place.document.threads ?? [];
    if (names.length === 0) return [];
    const list = make(
        "select",
        { class: "thread", "aria-label": "Thread", change: () => thread.choose(Number(list.value)) },
        make("option", { value: String(kAllThreads) }, "All threads"),
        ...names.map((name, at) => make("option", { value: String(at) }, name)),
    );
    thread.listen(() => (list.value = String(thread.number)));
    return [list];
}
