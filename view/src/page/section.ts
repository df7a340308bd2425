// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one question: its answer, and its charts.
// Invariant: the answer is about the whole run, and says so when a window is selected.
// Must not know: how charts draw.

import type { Section } from "../document";
import { make } from "../parts/dom";
import { Figure, type Surroundings } from "./figure";
import { wholeOf } from "./window_text";

export function sectionOf(section: Section, name: string, around: Surroundings): HTMLElement {
    const heading = make(
        "h2",
        {},
        section.question,
        " ",
        make("a", { class: "here", href: `#${section.id}`, "aria-label": `Link to: ${section.question}` }, "#"),
    );
    const whole = make(
        "p",
        { class: "small whole-run", hidden: true },
        `This sentence is about the ${wholeOf(around.document)}.`,
    );
    around.window.listen(() => (whole.hidden = around.window.isWhole));
    const figures = section.charts.map((chart, at) => {
        const file = `${name}-${section.id}${section.charts.length > 1 ? `-${at + 1}` : ""}`;
        return new Figure(chart, file, around).element;
    });
    return make(
        "section",
        { id: section.id, class: "question", tabindex: "-1" },
        heading,
        make("p", { class: "answer" }, section.answer),
        whole,
        ...figures,
    );
}
