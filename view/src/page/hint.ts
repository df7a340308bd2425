// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the box beside the mouse that says what it is at.
// Invariant: stays within the window; the keyboard's words stand elsewhere.
// Must not know: what it says.

import { make } from "../parts/dom";

const kAway = 14; // pixels from the mouse

export class Hint {
    readonly element = make("div", { class: "hint", "aria-hidden": "true", hidden: true });

    show(text: string, at: PointerEvent): void {
        const [first = "", ...rest] = text.split("\n");
        this.element.replaceChildren(make("strong", {}, first), ...rest.map((line) => make("div", {}, line)));
        this.element.hidden = false;
        const { width, height } = this.element.getBoundingClientRect();
        const right = at.clientX + kAway;
        const left = right + width > innerWidth - 4 ? at.clientX - kAway - width : right;
        const below = at.clientY + kAway;
        const top = below + height > innerHeight - 4 ? at.clientY - kAway - height : below;
        this.element.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
    }
    hide(): void {
        this.element.hidden = true;
    }
}
