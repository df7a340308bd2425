// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the script, with the line that runs at this moment marked; a click on a line goes to its first step.
// Invariant: the marked line is in sight.
// Must not know: what a command of the script means.

import { make } from "../parts/dom";
import type { Walk } from "./walk";

export function scriptView(script: string, walk: Walk): HTMLElement {
    const first = new Map<number, number>();
    walk.moments.forEach(({ step }, at) => {
        if (step.line !== null && !first.has(step.line)) first.set(step.line, at);
    });
    const lines = script.replace(/\n+$/, "").split("\n");
    const rows = lines.map((text, at) => {
        const target = first.get(at + 1);
        const words =
            target === undefined
                ? make("span", {}, text)
                : make("button", { type: "button", click: () => walk.go(target) }, text);
        return make("li", { class: text.trim().startsWith("#") ? "comment" : "command" }, words);
    });
    const list = make("ol", { class: "script", tabindex: "0", "aria-label": "Script" }, ...rows);
    let marked: HTMLElement | undefined;
    const mark = (): void => {
        const row = rows[(walk.moment.step.line ?? 0) - 1];
        if (row === marked) return;
        marked?.removeAttribute("aria-current");
        marked = row;
        if (row === undefined) return;
        row.setAttribute("aria-current", "step");
        // Only the script scrolls, never the page.
        const above = row.offsetTop;
        if (above < list.scrollTop || above + row.offsetHeight > list.scrollTop + list.clientHeight)
            list.scrollTop = above - list.clientHeight / 3;
    };
    walk.listen(mark);
    requestAnimationFrame(mark);
    return make("section", { class: "script-room", "aria-label": "Script" }, make("h2", {}, "Script"), list);
}
