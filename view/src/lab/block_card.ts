// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the history of the chosen block: each step that changed it, to go there.
// Invariant: the history is of one run, the one in which the block was chosen.
// Must not know: how a block is chosen.

import { format } from "../data/units";
import { make } from "../parts/dom";
import { momentOf } from "./moments";
import { blockTitle, blockWords, containerName, placeName, threadName } from "./names";
import type { Run } from "./run";
import type { Walk } from "./walk";

function wordsAt(run: Run, id: string, step: number): string {
    const block = run.blocks.at(id, step);
    if (block === null) return "is gone";
    const container = block.container === null ? null : run.containers.at(block.container, step);
    const inContainer = container === null ? "" : ` in ${containerName(run, block.container!, step)}`;
    const place = block.place ?? container?.place ?? null;
    return `${blockWords(block)}${inContainer}${place === null ? "" : `: ${placeName(run, place, step)}`}`;
}

function rowsOf(walk: Walk, at: number, id: string): HTMLElement[] {
    const run = walk.runs[at]!;
    return run.blocks.of(id).map(({ step: index }) => {
        const step = run.step(index);
        const moment = momentOf(walk.moments, at, index);
        const text = `${moment + 1}. ${threadName(step.thread)}: ${step.call}`;
        const jump = make("button", { type: "button", click: () => walk.go(moment) }, text);
        const row = make("li", {}, jump, make("span", { class: "small" }, ` ${wordsAt(run, id, index)}`));
        if (moment === walk.at) row.setAttribute("aria-current", "step");
        return row;
    });
}

export function blockCard(walk: Walk): HTMLElement {
    const card = make("section", { class: "block-card", "aria-label": "History of a block" });
    const show = (): void => {
        const { filter } = walk;
        card.hidden = filter.by !== "block";
        if (filter.by !== "block") return;
        const run = walk.runs[filter.run]!;
        const name = blockTitle(run, filter.block);
        const bytes = run.blocks.of(filter.block).find(({ value }) => value !== null)?.value?.bytes ?? 0;
        const whose = walk.runs.length > 1 ? ` of ${run.name}` : "";
        card.replaceChildren(
            make("h2", {}, `Block ${name}${whose}, ${format(bytes, "bytes")}`),
            make("ol", {}, ...rowsOf(walk, filter.run, filter.block)),
            make("button", { type: "button", click: () => walk.keep({ by: "all" }) }, "All steps"),
        );
    };
    walk.listen(show);
    show();
    return card;
}
