// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the window in words, and the buttons that go with it.
// Invariant: read out when it changes.
// Must not know: how it is selected.

import { format } from "../data/units";
import type { TimeWindow } from "../data/window";
import { make } from "../parts/dom";

export class WindowText {
    readonly element: HTMLElement;
    private readonly text = make("span", { class: "window-text", role: "status" });
    private readonly buttons: HTMLElement[];

    constructor(
        private readonly window: TimeWindow,
        others: HTMLElement[],
    ) {
        this.buttons = [make("button", { type: "button", click: () => window.selectWhole() }, "Whole run"), ...others];
        this.element = make("div", { class: "window-line" }, this.text, ...this.buttons);
        window.listen(() => this.show());
        this.show();
    }
    private show(): void {
        const { from, to, begin, end, isWhole, count } = this.window;
        const all = format(end - begin, "seconds");
        if (count === 0) this.text.textContent = "No time passed.";
        else if (isWhole) this.text.textContent = count > 1 ? `The whole run, ${all}. Drag to select a window of time.` : `The whole run, ${all}.`;
        else this.text.textContent = `${format(from, "time")} to ${format(to, "time")}: ${format(to - from, "seconds")} of ${all}`;
        for (const button of this.buttons) button.hidden = isWhole;
    }
}
