// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page of one document.
// Invariant: everything on it is made from the document; nothing is kept when another document comes.
// Must not know: where the document came from.

import { ChosenFunction } from "../data/chosen";
import { ChosenThread } from "../data/chosen_thread";
import { tellMomentsOf } from "../data/units";
import { TimeWindow } from "../data/window";
import type { ReportDocument } from "../document";
import { make } from "../parts/dom";
import type { Theme } from "../parts/theme";
import { barOf } from "./bar";
import { contentsOf } from "./contents";
import type { Surroundings } from "./figure";
import { headOf } from "./head";
import { Hint } from "./hint";
import { sectionOf } from "./section";

// What one can do with a window beyond looking at it: `closer` asks for a document of it, `back` goes to the one before.
export interface Ways {
    closer: ((from: number, to: number) => void) | null;
    back: (() => void) | null;
    isServed: boolean;
}

export function showPage(root: HTMLElement, report: ReportDocument, theme: Theme, ways: Ways): TimeWindow {
    theme.forget();
    tellMomentsOf(report.slices);
    const window = new TimeWindow(report.slices);
    const hint = new Hint();
    const around: Surroundings = {
        document: report,
        window,
        theme,
        chosen: new ChosenFunction(),
        thread: new ChosenThread(),
        hint,
    };
    const { closer, back } = ways;
    const more =
        closer === null
            ? []
            : [make("button", { type: "button", click: () => closer(window.from, window.to) }, "Look closer")];
    const name = report.title.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^-|-$/g, "") || "report";
    const sections = report.sections.map((section) => sectionOf(section, name, around));
    const returning =
        back === null
            ? []
            : [
                  make(
                      "p",
                      { class: "returning" },
                      make("button", { type: "button", class: "back", click: back }, "Back to the longer time"),
                  ),
              ];
    document.title = `${report.title} – granary`;
    root.replaceChildren(
        make("a", { class: "skip", href: "#sections" }, "To the sections"),
        barOf(around),
        make(
            "div",
            { class: "columns", id: "top" },
            contentsOf(report.sections, sections),
            make(
                "main",
                {},
                ...returning,
                headOf(around, more),
                make("div", { id: "sections", tabindex: "-1" }, ...sections),
                make(
                    "footer",
                    {},
                    ways.isServed
                        ? "Served by granary report --serve, on this machine; the page asks nobody else."
                        : "Made by granary. The page holds its data itself and asks nothing of the network.",
                ),
            ),
        ),
        hint.element,
    );
    const named = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    named?.scrollIntoView();
    return window;
}
