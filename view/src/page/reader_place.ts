// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where the reader is on the page: the window, the section in sight, what has the focus. For the same run told anew.
// Invariant: what the other page does not have is left alone.
// Must not know: how the page was made.

import type { TimeWindow } from "../data/window";

const kParts = "section, .bar, header";

export class ReaderPlace {
    private readonly focus: { tag: string; label: string; part: string } | null = null;
    private readonly sight: { id: string; top: number } | null = null;
    private readonly first: number;
    private readonly last: number;

    constructor(
        private readonly root: HTMLElement,
        window: TimeWindow,
    ) {
        [this.first, this.last] = window.isWhole ? [0, Infinity] : [window.first, window.last];
        const active = document.activeElement;
        const label = active?.getAttribute("aria-label") ?? "";
        if (active !== null && label !== "")
            this.focus = { tag: active.tagName, label, part: active.closest(kParts)?.className ?? "" };
        if (scrollY === 0) return;
        for (const section of root.querySelectorAll("section[id]")) {
            const { top, bottom } = section.getBoundingClientRect();
            if (bottom <= 0) continue;
            this.sight = { id: section.id, top };
            break;
        }
    }
    restore(window: TimeWindow): void {
        this.restoreWindow(window);
        const section = this.sight === null ? null : document.getElementById(this.sight.id);
        if (section !== null) scrollBy(0, section.getBoundingClientRect().top - this.sight!.top);
        const { focus } = this;
        if (focus === null) return;
        const same = [...this.root.querySelectorAll<HTMLElement>(`${focus.tag}[aria-label]`)].find(
            (element) =>
                element.getAttribute("aria-label") === focus.label &&
                (element.closest(kParts)?.className ?? "") === focus.part,
        );
        same?.focus({ preventScroll: true });
    }
    restoreWindow(window: TimeWindow): void {
        window.select(this.first, this.last);
    }
}
