// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: elements made in one line.
// Invariant: text goes in as text, never as HTML.
// Must not know: which elements the page has.

type Attributes = Record<string, string | boolean | EventListener>;

export function make<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Attributes = {},
    ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") element.addEventListener(name, value);
        else if (typeof value === "string") element.setAttribute(name, value);
        else element.toggleAttribute(name, value);
    }
    element.append(...children);
    return element;
}

// For a link within the page, which leads to what the script shows: the address stays.
export function leading(follow: () => void): EventListener {
    return (event) => {
        event.preventDefault();
        follow();
    };
}

// A button that says whether it is pressed.
export function toggle(text: string, pressed: boolean, changed: (pressed: boolean) => void): HTMLButtonElement {
    const button = make("button", { type: "button", "aria-pressed": String(pressed) }, text);
    button.addEventListener("click", () => {
        const now = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(now));
        changed(now);
    });
    return button;
}

// One of several: a group of radio buttons that looks like a switch.
let groups = 0;
export function choice(label: string, names: string[], chosen: (at: number) => void, first = 0): HTMLFieldSetElement {
    const group = `choice-${++groups}`;
    const options = names.map((name, at) => {
        const input = make("input", { type: "radio", name: group, checked: at === first, change: () => chosen(at) });
        return make("label", {}, input, make("span", {}, name));
    });
    return make("fieldset", { class: "choice" }, make("legend", { class: "unseen" }, label), ...options);
}
