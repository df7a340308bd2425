// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: says that the command works on a document, and how far it is; or why there is none, while another one is shown.
// Invariant: seen and read out while it works or failed, and not there otherwise.
// Must not know: which document.

import { make } from "../parts/dom";

export class Working {
    readonly element = make("div", { class: "working", hidden: true });
    private readonly text = make("span", { role: "status" });
    private readonly bar = make("progress", { max: "1", "aria-label": "Done" });
    private readonly failure = make("span", { role: "alert" });
    private readonly close = make("button", { type: "button", click: () => this.end() }, "Close");

    constructor() {
        this.element.append(this.text, this.bar, this.failure, this.close);
    }
    begin(what: string): void {
        this.text.textContent = what;
        this.bar.value = 0;
        this.show(true);
    }
    fail(why: string): void {
        this.show(false);
        this.failure.textContent = why;
    }
    private show(works: boolean): void {
        this.text.hidden = this.bar.hidden = !works;
        this.failure.hidden = this.close.hidden = works;
        this.failure.textContent = "";
        this.element.hidden = false;
    }
    readonly tell = (done: number): void => void (this.bar.value = done);
    end(): void {
        this.element.hidden = true;
    }
}
