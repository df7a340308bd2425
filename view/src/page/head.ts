// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the first screen: whose run this is, the sentences that matter most, and the whole run as one picture.
// Invariant: what the reader must know first (damage, lost events) stands before any sentence.
// Must not know: the sections.

import { SeriesView } from "../charts/series";
import type { Place } from "../charts/chart_view";
import { make } from "../parts/dom";
import { Brush } from "./brush";
import type { Surroundings } from "./figure";
import { WindowText, wholeOf } from "./window_text";

const kHeight = 260;

function factsOf(facts: [string, string][]): HTMLElement {
    return make(
        "dl",
        { class: "facts" },
        ...facts.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text))),
    );
}

function overviewOf(around: Surroundings, more: HTMLElement[]): HTMLElement[] {
    const { document: report, window, theme } = around;
    const chart = report.overview;
    if (chart === null || chart.at.length === 0) return [];
    const nothing = (): void => {};
    const place: Place = {
        ...around,
        label: chart.title,
        tell: nothing,
        hint: nothing,
        unhint: nothing,
        viewChanged: nothing,
    };
    const view = new SeriesView(chart, place, { height: kHeight, overview: true });
    const brush = new Brush(window);
    const room = make("div", { class: "overview-plot" }, view.element);
    view.plot.append(brush.element);
    const draw = (): void => {
        if (room.clientWidth === 0) return;
        view.draw(room.clientWidth);
        const { left, top, width, height } = view.area();
        Object.assign(brush.element.style, {
            left: `${left}px`,
            top: `${top}px`,
            width: `${width}px`,
            height: `${height}px`,
        });
    };
    new ResizeObserver(draw).observe(room);
    theme.listen(draw);
    const title = make("h2", {}, chart.title);
    return [
        make(
            "section",
            { class: "overview", "aria-label": chart.title },
            make("div", { class: "overview-head" }, title, new WindowText(window, more, wholeOf(report)).element),
            room,
        ),
    ];
}

export function headOf(around: Surroundings, more: HTMLElement[]): HTMLElement {
    const { title, facts, notes, story, compared } = around.document;
    const warned =
        notes.length === 0
            ? []
            : [make("div", { class: "notes", role: "note" }, ...notes.map((note) => make("p", {}, note)))];
    const told =
        story.length === 0
            ? []
            : [
                  make(
                      "div",
                      { class: story.length % 2 === 0 ? "story even" : "story" },
                      ...story.map((sentence) => make("p", {}, sentence)),
                  ),
              ];
    const beside =
        compared === undefined || compared.length === 0
            ? []
            : [make("p", { class: "compared" }, "Compared: ", compared.join(" · "))];
    return make(
        "header",
        { class: "head" },
        make("h1", {}, title),
        ...beside,
        ...warned,
        ...told,
        ...overviewOf(around, more),
        factsOf(facts),
    );
}
