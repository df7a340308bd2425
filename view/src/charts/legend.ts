// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the names of a chart's series, each with its colour and dash or pattern; pressed, it hides the series.
// Invariant: at least one series stays.
// Must not know: the chart.

import { make, toggle } from "../parts/dom";
import type { Colours } from "../parts/theme";
import { colourOf, dashOf, patternOf, sized } from "./paint";

const kWidth = 26;
const kHeight = 12;

export class Legend {
    readonly element = make("div", { class: "legend", role: "group", "aria-label": "Series" });
    readonly hidden = new Set<number>();
    private readonly samples: HTMLCanvasElement[] = [];

    constructor(
        names: string[],
        private readonly filled: boolean,
        changed: () => void,
    ) {
        if (names.length < 2) return;
        names.forEach((name, at) => {
            const sample = make("canvas", { "aria-hidden": "true" });
            sized(sample, kWidth, kHeight);
            this.samples.push(sample);
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
