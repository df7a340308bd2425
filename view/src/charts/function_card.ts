// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the chosen function of a flame graph: what it and its callees have of the measure, who calls it, and what it calls.
// Invariant: a stack counts once, however often the function stands in it: at its outermost call for callers, and for callees at
//    its innermost. Source lines are shown where the document has them.
// Must not know: pixels.

import { type Call, neighbours } from "../data/calls";
import type { ChosenFunction } from "../data/chosen";
import { format } from "../data/units";
import type { FlameChart, Frame } from "../document";
import { leading, make } from "../parts/dom";
import { shortened } from "../data/names";

const kMost = 10; // of callers, of callees
const kMostText = 90; // letters of a name

// Lines that do not follow each other have a gap between them.
function sourceOf({ source = [] }: Frame): HTMLElement[] {
    if (source.length === 0) return [];
    const rows = source.flatMap(({ line, text, calls }, at) => [
        ...(at > 0 && source[at - 1]!.line + 1 < line ? [make("li", { class: "gap" }, "…")] : []),
        make(
            "li",
            { class: calls === true ? "calls" : "" },
            make("span", { class: "line" }, String(line)),
            make("code", {}, text),
        ),
    ]);
    return [
        make(
            "div",
            {
                class: "source",
                tabindex: "0",
                role: "region",
                "aria-label": "Source lines; those that call are marked",
            },
            make("ol", {}, ...rows),
        ),
    ];
}

export function functionCard(
    top: Call,
    chosen: ChosenFunction,
    frames: Frame[],
    measure: FlameChart["measures"][number],
    hasRow: boolean,
): HTMLElement {
    const frame = frames[chosen.frame]!;
    const { own, total, above, below } = neighbours(top, chosen.frame);
    const share = (value: number): string => format(top.total === 0 ? 0 : value / top.total, "fraction");
    const list = (title: string, sums: Map<number, number>): HTMLElement => {
        const largest = [...sums].sort(([, a], [, b]) => b - a);
        const rows = largest
            .slice(0, kMost)
            .map(([number, sum]) =>
                make(
                    "li",
                    {},
                    make("span", { class: "sum" }, format(sum, measure.unit)),
                    " ",
                    number < 0
                        ? "(none: it is the outermost)"
                        : make(
                              "a",
                              {
                                  class: "follow",
                                  href: "#",
                                  title: frames[number]?.whole_name ?? frames[number]?.name ?? "?",
                                  click: leading(() => chosen.choose(number, "here")),
                              },
                              shortened(frames[number]?.name ?? "?", kMostText),
                          ),
                ),
            );
        const left = largest.length - rows.length;
        return make(
            "div",
            {},
            make("h4", {}, title),
            rows.length === 0 ? make("p", { class: "small" }, "none") : make("ul", {}, ...rows),
            ...(left > 0 ? [make("p", { class: "small" }, `and ${left} more`)] : []),
        );
    };
    const where = [
        frame.file === "" ? "" : frame.line === 0 ? frame.file : `${frame.file}:${frame.line}`,
        frame.module,
    ];
    const toTable = make("button", { type: "button", click: () => chosen.choose(chosen.frame, "table") }, "To its row");
    const close = make("button", { type: "button", click: () => chosen.choose(-1, "here") }, "Close");
    return make(
        "section",
        { class: "function-card", "aria-label": "The chosen function" },
        make(
            "div",
            { class: "card-head" },
            make("strong", { title: frame.whole_name ?? frame.name }, shortened(frame.name, kMostText)),
            ...(hasRow ? [toTable] : []),
            close,
        ),
        make("p", { class: "small" }, where.filter((part) => part !== "").join(" in ")),
        make(
            "p",
            {},
            `${measure.name}: ${format(total, measure.unit)} (${share(total)}) in it and what it calls, ${format(own, measure.unit)} right here.`,
        ),
        ...sourceOf(frame),
        make("div", { class: "card-lists" }, list("Called by", above), list("Calls", below)),
    );
}
