// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the colours in force, light or dark, for what is drawn on canvas.
// Invariant: the colours are the style sheet's; paper is always light.
// Must not know: what is drawn.

export interface Colours {
    dark: boolean;
    ground: string;
    ink: string;
    quiet: string;
    line: string;
    accent: string;
    shade: string;
    series: string[];
}

// Okabe and Ito's, in the order in which they stand out from the ground.
const kLight = ["#0072b2", "#d55e00", "#009e73", "#b3588f", "#a87400", "#3d9fd6", "#555555"];
const kDark = ["#56b4e9", "#e69f00", "#1cc296", "#dd8fbb", "#f0e442", "#e8743b", "#b0b0b0"];

export class Theme {
    private chosen: "light" | "dark" | null = null;
    private printing = false;
    private colours: Colours;
    private readonly listeners = new Set<() => void>();
    private readonly wish = matchMedia("(prefers-color-scheme: dark)");

    constructor() {
        this.colours = this.read();
        this.wish.addEventListener("change", () => this.apply());
        matchMedia("print").addEventListener("change", (event) => this.print(event.matches));
        addEventListener("beforeprint", () => this.print(true));
        addEventListener("afterprint", () => this.print(false));
    }

    get isDark(): boolean {
        return !this.printing && (this.chosen ?? (this.wish.matches ? "dark" : "light")) === "dark";
    }
    get isPrinting(): boolean {
        return this.printing;
    }
    get now(): Colours {
        return this.colours;
    }
    listen(listener: () => void): void {
        this.listeners.add(listener);
    }
    // For the page that comes.
    forget(): void {
        this.listeners.clear();
    }
    flip(): void {
        this.chosen = this.isDark ? "light" : "dark";
        this.apply();
    }

    private print(printing: boolean): void {
        if (printing === this.printing) return;
        this.printing = printing;
        this.apply();
    }
    private apply(): void {
        this.colours = this.read();
        for (const listener of this.listeners) listener();
    }
    private read(): Colours {
        document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
        const style = getComputedStyle(document.documentElement);
        const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
        return {
            dark: this.isDark,
            ground: colour("ground"),
            ink: colour("ink"),
            quiet: colour("quiet"),
            line: colour("line"),
            accent: colour("accent"),
            shade: colour("shade"),
            series: this.isDark ? kDark : kLight,
        };
    }
}
