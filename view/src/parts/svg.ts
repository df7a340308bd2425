// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: elements of a drawing, made in one line.
// Invariant: text goes in as text.
// Must not know: what is drawn.

const kNamespace = "http://www.w3.org/2000/svg";

export function draw<K extends keyof SVGElementTagNameMap>(
    tag: K,
    attributes: Record<string, string | number> = {},
    ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
    const element = document.createElementNS(kNamespace, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    element.append(...children);
    return element;
}
