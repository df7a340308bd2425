// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page of one or several runs: the step in words, the time line, the script, and a panel for each allocator.
// Invariant: everything on it shows the same moment.
// Must not know: where the records came from.

import { make } from "../parts/dom";
import { keysDialog } from "../parts/keys_dialog";
import type { Theme } from "../parts/theme";
import { blockCard } from "./block_card";
import { controls, listenToKeys } from "./controls";
import { legendOf } from "./legend";
import { momentsOf } from "./moments";
import { threadClass, threadName } from "./names";
import type { Run } from "./run";
import { runPanel } from "./run_panel";
import { scriptView } from "./script_view";
import { TimeLine } from "./time_line";
import { Walk } from "./walk";

const kAddress = /^#step=(\d+)$/;

const kKeys: [string, string][] = [
    ["Left, right", "one step back, one step on"],
    ["Home, End", "to the first and the last step"],
    ["Space", "play and pause"],
    ["Click on a block", "its whole history; the steps then go through it alone"],
    ["Drag in the time line", "to any step"],
];

function barOf(title: string, theme: Theme): HTMLElement {
    const flip = make("button", { type: "button", click: () => theme.flip() });
    const name = (): void => void (flip.textContent = theme.isDark ? "Light" : "Dark");
    theme.listen(name);
    name();
    const keys = keysDialog(kKeys);
    const ask = make("button", { type: "button", click: () => keys.showModal() }, "Keys");
    return make(
        "div",
        { class: "lab-bar" },
        make("h1", {}, title),
        make("div", { class: "switches" }, ask, flip),
        keys,
    );
}

// The call, in words that a screen reader speaks at each step.
function stepLine(walk: Walk): HTMLElement {
    const line = make("div", { class: "step-line" });
    const show = (): void => {
        const { step } = walk.moment;
        line.setAttribute("aria-live", walk.isPlaying ? "off" : "polite");
        line.replaceChildren(
            make("span", { class: "step-number" }, `Step ${walk.at + 1} of ${walk.moments.length}`),
            make("span", { class: `owner ${threadClass(step.thread)}` }, threadName(step.thread)),
            make("code", {}, step.call),
            ...(step.line === null ? [] : [make("span", { class: "small" }, `line ${step.line}`)]),
            make("p", { class: "note" }, step.note ?? ""),
        );
    };
    walk.listen(show);
    show();
    return line;
}

// A link to the page leads to the step that is shown.
function keepAddress(walk: Walk): void {
    const asked = kAddress.exec(location.hash);
    if (asked !== null) walk.go(Number(asked[1]) - 1);
    walk.listen((from) => {
        if (from !== walk.at && !walk.isPlaying) history.replaceState(null, "", `#step=${walk.at + 1}`);
    });
}

export function showLab(root: HTMLElement, title: string, runs: Run[], theme: Theme): void {
    const walk = new Walk(runs, momentsOf(runs));
    const script = runs.find((run) => run.record.script !== null)?.record.script ?? null;
    const whole = `${runs.map((run) => run.name).join(", ")}: ${title}`;
    document.title = `${whole} – granary lab show`;
    root.replaceChildren(
        barOf(whole, theme),
        make("div", { class: "lab-head" }, controls(walk), stepLine(walk), new TimeLine(walk).element),
        make(
            "main",
            { class: "lab-columns" },
            make("div", { class: "beside" }, blockCard(walk), ...(script === null ? [] : [scriptView(script, walk)])),
            make(
                "div",
                { class: "stage" },
                legendOf(runs),
                make(
                    "div",
                    { class: `panels${runs.length > 1 ? " several" : ""}` },
                    ...runs.map((_, at) => runPanel(walk, at)),
                ),
            ),
        ),
    );
    keepAddress(walk);
    listenToKeys(walk);
}
