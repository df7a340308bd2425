// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the list of the sections, which marks the one that is read.
// Invariant: one link for each section.
// Must not know: what is in a section.

import type { Section } from "../document";
import { make } from "../parts/dom";

export function contentsOf(sections: Section[], elements: HTMLElement[]): HTMLElement {
    const links = sections.map(({ id, question }) => make("a", { href: `#${id}` }, question));
    const seen = new Set<Element>();
    const watch = new IntersectionObserver(
        (entries) => {
            for (const { target, isIntersecting } of entries) {
                if (isIntersecting) seen.add(target);
                else seen.delete(target);
            }
            const current = elements.findIndex((element) => seen.has(element));
            links.forEach((link, at) => {
                if (at === current) link.setAttribute("aria-current", "true");
                else link.removeAttribute("aria-current");
            });
        },
        { rootMargin: "-15% 0px -50% 0px" },
    );
    for (const element of elements) watch.observe(element);
    return make("nav", { class: "contents", "aria-label": "Contents" }, make("ol", {}, ...links.map((link) => make("li", {}, link))));
}
