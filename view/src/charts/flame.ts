// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a flame graph hanging from its root: search and filter, zoom to a call, a choice of measures, callers instead of
//    callees; what calls the chosen function, and what it calls.
// Invariant: widths are the window's sums; where a call stands in the row is by name, so that it stays when they change.
// Must not know: what is measured.

import { type Call, callees, callers, functions } from "../data/calls";
import { shortened } from "../data/names";
import { nodesInWindow } from "../data/slices";
import type { Table } from "../data/table";
import { format } from "../data/units";
import type { FlameChart, Frame } from "../document";
import { choice, make, toggle } from "../parts/dom";
import type { ChartView, Place } from "./chart_view";
import { functionCard } from "./function_card";
import { layout, type Placed } from "./flame_layout";
import { kFont, sized } from "./paint";
import { threadControl } from "./thread_control";

const kRow = 22;
const kTextRoom = 28;
const kFewLetters = 16;
const kHighest = 640; // pixels; deeper graphs scroll

class Flame implements ChartView {
    readonly element: HTMLElement;
    readonly controls: HTMLElement[];
    readonly keys =
        "Up and down arrows move to callers and callees, left and right along the row, Enter zooms to the call, 0 shows all.";
    readonly knowsHeight = false;
    readonly tellsThreads: boolean;
    private readonly canvas = make("canvas", {});
    private readonly scroll = make("div", { class: "plot flame", tabindex: "0" }, this.canvas);
    private readonly search = make("input", {
        type: "search",
        placeholder: "Search",
        "aria-label": "Search functions, files and modules: a regular expression",
    });
    private readonly only = toggle(
        "Only what is found",
        false,
        (pressed) => ((this.isFiltered = pressed), this.renew()),
    );
    private readonly card = make("div", {});
    private readonly found = make("span", { class: "found", role: "status" });
    private readonly whole = make(
        "button",
        { type: "button", hidden: true, click: () => this.zoomOut() },
        "Whole graph",
    );
    private readonly modules: string[];
    private measure = 0;
    private turned = false;
    private top: Call;
    private zoomed: Call;
    private cursor: Call | null = null;
    private placed: Placed[] = [];
    private width = 0;
    private pattern: RegExp | null = null;
    private isFiltered = false;

    constructor(
        private readonly chart: FlameChart,
        private readonly place: Place,
    ) {
        this.modules = [...new Set(place.document.frames.map(({ module }) => module))];
        this.tellsThreads = chart.measures.some(
            ({ by_thread, slices }) => by_thread !== undefined || slices?.some(({ threads }) => threads !== undefined),
        );
        this.top = this.zoomed = this.tree();
        this.search.addEventListener("input", () => this.find());
        this.controls = [
            ...(chart.measures.length > 1
                ? [
                      choice(
                          "Measure",
                          chart.measures.map(({ name }) => name),
                          (at) => ((this.measure = at), this.renew()),
                      ),
                  ]
                : []),
            choice(
                "Direction",
                ["From main down", "From the allocation up"],
                (at) => ((this.turned = at === 1), this.renew()),
            ),
            ...(this.tellsThreads ? threadControl(place) : []),
            this.search,
            this.only,
            this.found,
            this.whole,
        ];
        this.element = make("div", {}, this.scroll, this.card);
        place.chosen.listen((look) => this.choose(look === "graph"));
        this.canvas.addEventListener("pointermove", (event) => this.point(event));
        this.canvas.addEventListener("pointerleave", () => this.place.unhint());
        this.canvas.addEventListener("click", (event) => this.click(event));
        this.scroll.addEventListener("keydown", (event) => this.key(event));
    }

    get follows(): "sums" | "nothing" {
        return this.chart.measures[this.measure]?.slices === undefined ? "nothing" : "sums";
    }
    private frame(call: Call): Frame | null {
        return this.place.document.frames[call.frame] ?? null;
    }
    private readonly nameOf = (frame: number): string => this.place.document.frames[frame]?.name ?? "";
    private name(call: Call): string {
        return this.frame(call)?.name ?? (call.parent === null ? "all" : "?");
    }
    private tree(): Call {
        const { parents, frames, measures } = this.chart;
        const measure = measures[this.measure];
        const own = measure === undefined ? new Float64Array(parents.length) : this.ownOf(measure);
        if (this.isFiltered && this.pattern !== null) this.filter(own);
        return (this.turned ? callers : callees)(parents, frames, own, this.nameOf);
    }
    private ownOf(measure: FlameChart["measures"][number]): Float64Array {
        const { window, thread } = this.place;
        return nodesInWindow(measure, this.chart.parents.length, window, thread.number);
    }
    // Stacks without any function that matches count for nothing.
    private filter(own: Float64Array): void {
        const matches: boolean[] = [];
        this.chart.parents.forEach((parent, node) => {
            const frame = this.place.document.frames[this.chart.frames[node] ?? -1];
            matches.push((node !== 0 && matches[parent] === true) || (frame !== undefined && this.isFound(frame)));
            if (matches[node] !== true) own[node] = 0;
        });
    }
    private isFound({ name, whole_name, file, module }: Frame): boolean {
        return [whole_name ?? name, file, module].some((text) => this.pattern?.test(text) === true);
    }
    // The same call in a new tree, or the nearest of its callers that is there.
    private again(call: Call): Call {
        if (call.parent === null) return this.top;
        const parent = this.again(call.parent);
        return (
            (parent.depth === call.depth - 1 ? parent.children.find(({ frame }) => frame === call.frame) : undefined) ??
            parent
        );
    }
    windowChanged(): void {
        const { zoomed, cursor } = this;
        this.top = this.tree();
        this.zoomed = this.again(zoomed);
        this.cursor = cursor && this.again(cursor);
        this.showCard();
    }
    threadChanged(): void {
        this.windowChanged();
    }
    private choose(isLookedAt: boolean): void {
        this.showCard();
        if (isLookedAt) {
            this.zoomed = this.top;
            this.element.closest("figure")?.scrollIntoView();
            this.scroll.focus({ preventScroll: true });
        }
        if (this.width > 0) this.paint();
    }
    private showCard(): void {
        const { chosen, document } = this.place;
        const measure = this.chart.measures[this.measure];
        const frame = document.frames[chosen.frame];
        if (measure === undefined || frame === undefined) return this.card.replaceChildren();
        const top = this.turned ? this.ofDirection(callees) : this.top;
        const hasRow = document.sections.some(({ charts }) =>
            charts.some((chart) => chart.kind === "table" && chart.frames?.includes(chosen.frame) === true),
        );
        this.card.replaceChildren(functionCard(top, chosen, document.frames, measure, hasRow));
    }
    private ofDirection(direction: typeof callees): Call {
        const { parents, frames, measures } = this.chart;
        return direction(parents, frames, this.ownOf(measures[this.measure]!), this.nameOf);
    }
    private renew(): void {
        this.windowChanged();
        this.paint();
        this.place.viewChanged();
    }
    private zoom(call: Call): void {
        this.zoomed = call;
        this.paint();
    }
    private zoomOut(): void {
        this.scroll.focus(); // the button goes
        this.zoom(this.top);
    }

    private describe(call: Call): string {
        const measure = this.chart.measures[this.measure]!;
        const frame = this.frame(call);
        const where =
            frame === null
                ? []
                : [
                      [frame.file === "" || frame.line === 0 ? frame.file : `${frame.file}:${frame.line}`, frame.module]
                          .filter((part) => part !== "")
                          .join(" in "),
                  ];
        const lines = [
            `${measure.name}: ${format(call.total, measure.unit)}, ${format(this.top.total === 0 ? 0 : call.total / this.top.total, "fraction")} of all`,
            `right here: ${format(call.own, measure.unit)}`,
        ];
        return [
            frame?.whole_name ?? this.name(call),
            ...where.filter((part) => part !== ""),
            ...(this.turned ? lines.slice(0, 1) : lines),
        ].join("\n");
    }
    private at(event: MouseEvent): Call | null {
        const frame = this.canvas.getBoundingClientRect();
        const [x, row] = [event.clientX - frame.left, Math.floor((event.clientY - frame.top) / kRow)];
        return this.placed.find((one) => one.row === row && x >= one.left && x < one.left + one.width)?.call ?? null;
    }
    private point(event: PointerEvent): void {
        const call = this.at(event);
        this.canvas.classList.toggle("over", call !== null);
        if (call === null) this.place.unhint();
        else this.place.hint(this.describe(call), event);
    }
    private click(event: MouseEvent): void {
        const call = this.at(event);
        if (call !== null) this.zoomTo(call);
    }
    private zoomTo(call: Call): void {
        this.zoom(call);
        this.place.chosen.choose(call.frame, "here");
    }
    private key(event: KeyboardEvent): void {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        const here = this.cursor ?? this.zoomed;
        const row = here.parent?.children ?? [here];
        const beside = (by: number): Call | undefined => row[row.indexOf(here) + by];
        const next: Record<string, () => Call | null | undefined> = {
            ArrowUp: () => here.parent,
            ArrowDown: () =>
                this.cursor === null
                    ? here
                    : here.children.reduce<Call | null>(
                          (most, call) => (most === null || call.total > most.total ? call : most),
                          null,
                      ),
            ArrowLeft: () => beside(-1),
            ArrowRight: () => beside(1),
            Home: () => this.zoomed,
        };
        if (event.key === "Enter") this.zoomTo(here);
        else if (event.key === "0" || event.key === "Escape") this.zoom(this.top);
        else if (next[event.key] !== undefined) this.goTo(next[event.key]!() ?? here);
        else return;
        event.preventDefault();
    }
    private goTo(call: Call): void {
        this.cursor = call;
        if (!this.placed.some((one) => one.call === call)) this.zoom(call.parent ?? call);
        else this.paint();
        const top = call.depth * kRow;
        if (top < this.scroll.scrollTop) this.scroll.scrollTop = top;
        else if (top + kRow > this.scroll.scrollTop + this.scroll.clientHeight)
            this.scroll.scrollTop = top + kRow - this.scroll.clientHeight;
        this.place.tell(this.describe(call));
    }

    private find(): void {
        const text = this.search.value;
        try {
            this.pattern = text === "" ? null : new RegExp(text, "iu");
            this.search.setCustomValidity("");
        } catch {
            this.search.setCustomValidity("not a regular expression");
            this.search.reportValidity();
            return;
        }
        if (this.isFiltered) this.renew();
        else this.paint();
    }
    private matches(call: Call): boolean {
        const frame = this.frame(call);
        return this.pattern !== null && call.parent !== null && frame !== null && this.isFound(frame);
    }
    // What lies in or under functions that match, each stack once.
    private matched(call: Call): number {
        return this.matches(call) ? call.total : call.children.reduce((sum, below) => sum + this.matched(below), 0);
    }

    draw(width: number): void {
        this.width = width;
        this.paint();
    }
    private paint(): void {
        this.placed = layout(this.zoomed, this.width);
        const depth = this.placed.reduce((most, { row }) => Math.max(most, row), 0) + 1;
        this.scroll.style.maxHeight = this.place.theme.isPrinting ? "none" : `${kHighest}px`;
        const context = sized(this.canvas, this.width, depth * kRow);
        context.font = kFont;
        context.textBaseline = "middle";
        for (const one of this.placed) this.paintOne(context, one);
        const measure = this.chart.measures[this.measure];
        this.whole.hidden = this.zoomed === this.top;
        if (this.pattern === null || measure === undefined) this.found.textContent = "";
        else {
            const sum = this.matched(this.top);
            this.found.textContent = `${format(sum, measure.unit)}, ${format(this.top.total === 0 ? 0 : sum / this.top.total, "fraction")} of all`;
        }
    }
    private paintOne(context: CanvasRenderingContext2D, { call, left, width, row }: Placed): void {
        const { now: colours } = this.place.theme;
        const top = row * kRow;
        const isMatch = this.matches(call);
        context.globalAlpha = this.pattern !== null && !isMatch ? 0.35 : 1;
        context.fillStyle = this.ground(call);
        context.fillRect(left, top, Math.max(width - 1, 0.5), kRow - 1);
        const isChosen = call.parent !== null && call.frame === this.place.chosen.frame;
        if (isMatch || isChosen || call === this.cursor) {
            context.strokeStyle = call === this.cursor ? colours.ink : colours.accent;
            context.lineWidth = 2;
            context.strokeRect(left + 1, top + 1, Math.max(width - 3, 1), kRow - 3);
        }
        if (width > kTextRoom) {
            context.fillStyle = colours.ink;
            context.fillText(fitted(context, this.name(call), width - 12), left + 6, top + kRow / 2);
        }
        context.globalAlpha = 1;
    }
    // A calm hue for each module; its functions differ a little in lightness.
    private ground(call: Call): string {
        const { dark, shade } = this.place.theme.now;
        const frame = this.frame(call);
        if (frame === null) return shade;
        const hues = [208, 36, 160, 330, 265, 85, 10, 185];
        const hue = hues[this.modules.indexOf(frame.module) % hues.length]!;
        const step = (hash(frame.name) % 5) * 2;
        return dark ? `hsl(${hue} 30% ${24 + step}%)` : `hsl(${hue} 55% ${78 + step}%)`;
    }

    table(): Table {
        const measure = this.chart.measures[this.measure];
        const sums = functions(this.turned ? this.ofDirection(callees) : this.top);
        const unit = measure?.unit ?? "count";
        return {
            columns: [
                { name: "function", unit: "text" },
                { name: `${measure?.name ?? ""}, right here`, unit },
                { name: `${measure?.name ?? ""}, with what it called`, unit },
                { name: "file", unit: "text" },
                { name: "line", unit: "text" },
                { name: "module", unit: "text" },
            ],
            rows: sums.map(({ frame, own, total }) => {
                const { name, file, line, module } = this.place.document.frames[frame] ?? {
                    name: "?",
                    file: "",
                    line: 0,
                    module: "",
                };
                return [name, own, total, file, file === "" ? "" : line, module];
            }),
        };
    }
}

function hash(text: string): number {
    let sum = 0;
    for (let at = 0; at < text.length; ++at) sum = (sum * 31 + text.charCodeAt(at)) >>> 0;
    return sum;
}

// As much of the name as fits; of a few letters, the first.
function fitted(context: CanvasRenderingContext2D, name: string, width: number): string {
    if (context.measureText(name).width <= width) return name;
    const cut = (most: number): string => (most < kFewLetters ? `${name.slice(0, most)}…` : shortened(name, most));
    let [low, high] = [0, name.length];
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (context.measureText(cut(middle)).width <= width) low = middle;
        else high = middle;
    }
    return low < 2 ? "" : cut(low);
}

export function flameView(chart: FlameChart, place: Place): ChartView {
    return new Flame(chart, place);
}
