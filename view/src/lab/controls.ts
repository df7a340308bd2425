// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the buttons and keys by which the reader steps, plays and chooses what to step through.
// Invariant: each key has a button; a button that would do nothing is disabled, and never holds the focus then.
// Must not know: what a step shows.

import { choice, make } from "../parts/dom";
import { blockTitle, threadName } from "./names";
import { kSpeeds, type Walk } from "./walk";

function button(sign: string, name: string, does: () => void): HTMLButtonElement {
    return make("button", { type: "button", "aria-label": name, title: name, click: does }, sign);
}

function steppers(walk: Walk): HTMLElement {
    const stop = (does: () => void) => (): void => {
        walk.pause();
        does();
    };
    const first = button(
        "⇤",
        "First step (Home)",
        stop(() => walk.first()),
    );
    const back = button(
        "←",
        "Step back (left)",
        stop(() => walk.back()),
    );
    const play = button("", "", () => (walk.isPlaying ? walk.pause() : walk.play()));
    const next = button(
        "→",
        "Next step (right)",
        stop(() => walk.next()),
    );
    const last = button(
        "⇥",
        "Last step (End)",
        stop(() => walk.last()),
    );
    const show = (): void => {
        // aria-disabled, because a disabled button loses the focus of who steps to the end.
        for (const one of [first, back]) one.setAttribute("aria-disabled", String(!walk.hasBack));
        for (const one of [next, last]) one.setAttribute("aria-disabled", String(!walk.hasNext));
        play.textContent = walk.isPlaying ? "Pause" : "Play";
        const name = walk.isPlaying ? "Pause (space)" : "Play (space)";
        play.setAttribute("aria-label", name);
        play.title = name;
    };
    walk.listen(show);
    show();
    return make("div", { class: "steppers", role: "group", "aria-label": "Steps" }, first, back, play, next, last);
}

function threadChoice(walk: Walk): HTMLElement {
    const threads = [...new Set(walk.runs.flatMap((run) => run.threads))].sort((a, b) => a - b);
    const select = make(
        "select",
        { "aria-label": "By thread" },
        make("option", { value: "" }, "all threads"),
        ...threads.map((thread) => make("option", { value: String(thread) }, threadName(thread))),
    );
    select.addEventListener("change", () =>
        walk.keep(select.value === "" ? { by: "all" } : { by: "thread", thread: Number(select.value) }),
    );
    walk.listen(() => (select.value = walk.filter.by === "thread" ? String(walk.filter.thread) : ""));
    return select;
}

// For readers who cannot click a block.
function blockChoice(walk: Walk): HTMLElement {
    const groups = walk.runs.map((run, at) => {
        const options = [...run.blocks.ids].map((id) =>
            make("option", { value: JSON.stringify([at, id]) }, blockTitle(run, id)),
        );
        return make("optgroup", { label: run.name }, ...options);
    });
    const select = make("select", { "aria-label": "By block" }, make("option", { value: "" }, "all blocks"), ...groups);
    select.addEventListener("change", () => {
        if (select.value === "") return walk.keep({ by: "all" });
        const [run, block] = JSON.parse(select.value) as [number, string];
        walk.keep({ by: "block", run, block });
    });
    walk.listen(() => {
        const { filter } = walk;
        select.value = filter.by === "block" ? JSON.stringify([filter.run, filter.block]) : "";
    });
    return select;
}

export function controls(walk: Walk): HTMLElement {
    const speed = choice(
        "Speed",
        kSpeeds.map(([name]) => name),
        (at) => walk.setSpeed(kSpeeds[at]![1]),
        kSpeeds.findIndex(([name]) => name === "normal"),
    );
    return make("div", { class: "controls" }, steppers(walk), speed, threadChoice(walk), blockChoice(walk));
}

const kTakesKeys = "select, input, dialog[open]";

export function listenToKeys(walk: Walk): void {
    const does: Record<string, () => void> = {
        ArrowLeft: () => walk.back(),
        ArrowRight: () => walk.next(),
        Home: () => walk.first(),
        End: () => walk.last(),
    };
    addEventListener("keydown", (event) => {
        const target = event.target instanceof Element ? event.target : document.body;
        if (event.ctrlKey || event.altKey || event.metaKey || target.closest(kTakesKeys) !== null) return;
        const isSpace = event.key === " ";
        if (isSpace && target.closest("button, a") !== null) return; // it presses the button
        const step = does[event.key];
        if (!isSpace && step === undefined) return;
        event.preventDefault();
        if (isSpace) return walk.isPlaying ? walk.pause() : walk.play();
        walk.pause();
        step!();
    });
}
