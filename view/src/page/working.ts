// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: says that the command works on a document, and how far it is.
// Invariant: seen and read out while it works, and not there otherwise.
// Must not know: which document.

import { make } from "../parts/dom";

export class Working {
    readonly element = make("div", { class: "working", role: "status", hidden: true });
    private readonly text = make("span", {});
    private readonly bar = make("progress", { max: "1", "aria-label": "Done" });

    constructor() {
        this.element.append(this.text, this.bar);
    }
    begin(what: string): void {
        this.text.textContent = what;
        this.bar.value = 0;
        this.element.hidden = false;
    }
    readonly tell = (done: number): void => void (this.bar.value = done);
    end(): void {
        this.element.hidden = true;
    }
}
