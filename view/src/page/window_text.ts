// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the window in words, and the buttons that go with it.
// Invariant: read out when it changes.
// Must not know: how it is selected.

import { format } from "../data/units";
import type { TimeWindow } from "../data/window";
import type { ReportDocument } from "../document";
import { make } from "../parts/dom";

// What all slices together are called.
export function wholeOf(report: ReportDocument): string {
    return report.window === undefined ? "whole run" : "whole of this time";
}

export class WindowText {
    readonly element: HTMLElement;
    private readonly how = make("span", { class: "how" }, "Drag to select a window of time.");
    private readonly text = make("span", { class: "window-text", role: "status" });
    private readonly buttons: HTMLElement[];

    constructor(
        private readonly window: TimeWindow,
        others: HTMLElement[],
        private readonly whole: string,
    ) {
        const name = `${whole[0]!.toUpperCase()}${whole.slice(1)}`;
        this.buttons = [make("button", { type: "button", click: () => window.selectWhole() }, name), ...others];
        this.element = make("div", { class: "window-line" }, this.text, this.how, ...this.buttons);
        window.listen(() => this.show());
        this.show();
    }
    private show(): void {
        const { from, to, begin, end, isWhole, count } = this.window;
        const all = format(end - begin, "seconds");
        if (count === 0) this.text.textContent = "No time passed.";
        else if (isWhole) this.text.textContent = `The ${this.whole}, ${all}.`;
        else
            this.text.textContent = `${format(from, "time")} to ${format(to, "time")}: ${format(to - from, "seconds")} of ${all}`;
        this.how.hidden = !isWhole || count < 2;
        for (const button of this.buttons) button.hidden = isWhole;
    }
}
