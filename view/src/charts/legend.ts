// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the names of a chart's series, each with its colour and dash or pattern; pressed, it hides the series.
// Invariant: at least one series stays. What is nothing all along has no name here, unless all are.
// Must not know: the chart.

import { make, toggle } from "../parts/dom";
import type { Colours } from "../parts/theme";
import type { Place } from "./chart_view";
import { colourOf, dashOf, patternOf, sized } from "./paint";

// Of two that are compared, one that is nothing says something, too.
export function nothingIn(place: Place, values: (series: number) => (number | null)[]): (series: number) => boolean {
    return (series) =>
        (place.document.compared ?? []).length === 0 && values(series).every((value) => value === null || value === 0);
}

const kWidth = 26;
const kHeight = 12;

export class Legend {
    readonly element = make("div", { class: "legend", role: "group", "aria-label": "Series" });
    readonly hidden = new Set<number>();
    private readonly samples = new Map<number, HTMLCanvasElement>(); // by series

    constructor(
        names: string[],
        private readonly filled: boolean,
        changed: () => void,
        isNothing: (series: number) => boolean = () => false,
    ) {
        if (names.length < 2) return;
        const nothing = names.map((_, at) => isNothing(at));
        const isAny = nothing.includes(false);
        names.forEach((name, at) => {
            if (isAny && nothing[at]!) return void this.hidden.add(at);
            const sample = make("canvas", { "aria-hidden": "true" });
            sized(sample, kWidth, kHeight);
            this.samples.set(at, sample);
            const button = toggle(name, true, (shown) => {
                if (shown) this.hidden.delete(at);
                else if (this.hidden.size + 1 < names.length) this.hidden.add(at);
                else button.setAttribute("aria-pressed", "true");
                changed();
            });
            button.prepend(sample);
            this.element.append(button);
        });
    }

    draw(colours: Colours): void {
        this.samples.forEach((sample, at) => {
            const context = sized(sample, kWidth, kHeight);
            context.strokeStyle = colourOf(at, colours);
            if (this.filled) {
                context.fillStyle = patternOf(at, colours, context);
                context.setTransform(1, 0, 0, 1, 0, 0);
                context.fillRect(0, 0, sample.width, sample.height);
                context.lineWidth = devicePixelRatio * 2;
                context.strokeRect(0, 0, sample.width, sample.height);
                return;
            }
            context.lineWidth = 2.5;
            context.setLineDash(dashOf(at));
            context.beginPath();
            context.moveTo(0, kHeight / 2);
            context.lineTo(kWidth, kHeight / 2);
            context.stroke();
        });
    }
}
