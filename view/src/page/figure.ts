// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a chart on the page: its title, what it follows, its controls, its table and CSV, what its cursor is at.
// Invariant: drawn when it comes near the screen, and again when the window, the theme or its width changed.
// Must not know: what kind of chart it is.

import { isEmpty, viewOf } from "../charts/charts";
import type { ChartView, Place } from "../charts/chart_view";
import type { ChosenFunction } from "../data/chosen";
import type { ChosenThread } from "../data/chosen_thread";
import { csvOf } from "../data/table";
import { format } from "../data/units";
import type { Chart, ReportDocument } from "../document";
import { make, toggle } from "../parts/dom";
import { tableElement } from "../parts/table_element";
import type { Theme } from "../parts/theme";
import type { TimeWindow } from "../data/window";
import { download } from "./download";
import type { Hint } from "./hint";
import { wholeOf } from "./window_text";

export interface Surroundings {
    document: ReportDocument;
    window: TimeWindow;
    theme: Theme;
    chosen: ChosenFunction;
    thread: ChosenThread;
    hint: Hint;
}

const kNear = "600px";

export class Figure {
    readonly element: HTMLElement;
    private readonly view: ChartView;
    private readonly body: HTMLElement;
    private readonly told = make("p", { class: "told", "aria-live": "polite" });
    private readonly scope = make("span", { class: "scope" });
    private readonly select: HTMLButtonElement;
    private readonly tableRoom = make("div", {});
    private hasTable = false;
    private isNear = false;
    private isStale = true;
    private isOfOldWindow = false;
    private drawnWidth = 0;

    constructor(
        private readonly chart: Chart,
        private readonly file: string,
        private readonly around: Surroundings,
    ) {
        const { hint } = around;
        const place: Place = {
            ...around,
            label: chart.title,
            tell: (text) => this.tell(text),
            hint: (text, at) => hint.show(text, at),
            unhint: () => hint.hide(),
            viewChanged: () => this.viewChanged(),
        };
        this.view = viewOf(chart, place);
        this.body = make("div", { class: "body" });
        this.select = make(
            "button",
            { type: "button", hidden: true, click: () => this.selectTimes() },
            "Select this time",
        );
        this.element = this.build();
        if (isEmpty(chart)) return;
        this.body.append(this.view.element);
        around.window.listen(() => this.stale(true));
        around.theme.listen(() => this.stale(false));
        this.element.addEventListener("focusin", () => this.draw());
        new ResizeObserver(() => this.resized()).observe(this.body);
        new IntersectionObserver(([entry]) => this.near(entry?.isIntersecting === true), { rootMargin: kNear }).observe(
            this.element,
        );
        if (this.view.tellsThreads === true) around.thread.listen(() => this.threadChanged());
        this.describeKeys();
        this.sayScope();
    }

    private build(): HTMLElement {
        const { chart, view } = this;
        const title = make("h3", {}, chart.title, " ", this.scope);
        if (isEmpty(chart)) {
            this.body.append(make("p", { class: "empty" }, "Nothing of this kind was recorded."));
            return make("figure", { class: `chart ${chart.kind}` }, make("figcaption", {}, title), this.body);
        }
        const data = make(
            "button",
            { type: "button", "aria-label": `CSV: ${chart.title}`, click: () => this.save() },
            "CSV",
        );
        const table = toggle("Table", false, (pressed) => this.showTable(pressed));
        table.setAttribute("aria-label", `Table: ${chart.title}`);
        const tools = make(
            "div",
            { class: "tools" },
            ...view.controls,
            this.select,
            ...(chart.kind === "table" ? [] : [table]),
            data,
        );
        const axes = "y" in chart ? [chart.y.label, chart.x.label] : ["", ""];
        const plot = view.element.querySelector(".plot");
        if (plot !== null && axes[0] !== "") {
            plot.before(make("div", { class: "y-label" }, axes[0]!));
            plot.after(make("div", { class: "x-label" }, axes[1]!));
        }
        return make(
            "figure",
            { class: `chart ${chart.kind}` },
            make("figcaption", {}, title, tools),
            this.body,
            this.told,
            this.tableRoom,
        );
    }
    private describeKeys(): void {
        const focus = this.view.element.querySelector(".plot[tabindex], .lying");
        if (focus === null) return;
        if (focus.getAttribute("role") === null) focus.setAttribute("role", "application");
        focus.setAttribute("aria-label", `${this.chart.title}. ${this.view.keys}`);
    }

    private tell(text: string): void {
        this.told.textContent = text.replaceAll("\n", " · ");
    }
    private sayScope(): void {
        const { window } = this.around;
        if (window.isWhole) this.scope.textContent = "";
        else if (this.view.follows === "nothing") this.scope.textContent = wholeOf(this.around.document);
        else this.scope.textContent = `${format(window.from, "time")} – ${format(window.to, "time")}`;
        const thread = this.threadName();
        if (thread !== "")
            this.scope.textContent = [thread, this.scope.textContent].filter((part) => part !== "").join(", ");
    }
    // Of the thread that this chart is limited to; of none "".
    private threadName(): string {
        if (this.view.tellsThreads !== true) return "";
        return this.around.document.threads?.[this.around.thread.number] ?? "";
    }
    private selectTimes(): void {
        const times = this.view.zoomedTimes?.();
        if (times) this.around.window.selectTimes(...times);
    }
    private viewChanged(): void {
        this.sayScope();
        this.select.hidden = !this.view.zoomedTimes?.();
        this.refreshTable();
    }

    private stale(byWindow: boolean): void {
        this.isStale = true;
        if (byWindow) {
            this.isOfOldWindow = true;
            this.sayScope();
            this.select.hidden = true;
            this.refreshTable();
        }
        this.drawIfNear();
    }
    private threadChanged(): void {
        this.view.threadChanged?.();
        this.sayScope();
        this.refreshTable();
        this.stale(false);
    }
    // What lies far away takes up the window when it is looked at.
    private takeWindow(): void {
        if (!this.isOfOldWindow) return;
        this.isOfOldWindow = false;
        this.view.windowChanged?.();
    }
    private near(isNear: boolean): void {
        this.isNear = isNear;
        this.drawIfNear();
    }
    private resized(): void {
        if (this.body.clientWidth !== this.drawnWidth) this.isStale = true;
        this.drawIfNear();
    }
    private drawIfNear(): void {
        const mustKnowHeight = !this.view.knowsHeight && this.drawnWidth === 0;
        if (this.isNear || mustKnowHeight || this.around.theme.isPrinting) this.draw();
    }
    private draw(): void {
        if (!this.isStale || this.body.clientWidth === 0) return;
        this.takeWindow();
        this.drawnWidth = this.body.clientWidth;
        this.isStale = false;
        this.view.draw(this.drawnWidth);
    }

    private showTable(shown: boolean): void {
        this.hasTable = shown;
        this.refreshTable();
    }
    private refreshTable(): void {
        if (this.hasTable) this.takeWindow();
        this.tableRoom.replaceChildren(...(this.hasTable ? [tableElement(this.view.table(), this.chart.title)] : []));
    }
    private save(): void {
        this.takeWindow();
        const { window } = this.around;
        const part = window.isWhole || this.view.follows === "nothing" ? "" : `-${window.from}s-${window.to}s`;
        const thread = this.threadName()
            .replace(/[^\p{L}\p{N}._-]+/gu, "-")
            .replace(/^-|-$/g, "");
        download(`${this.file}${thread === "" ? "" : `-${thread}`}${part}.csv`, csvOf(this.view.table()));
    }
}
