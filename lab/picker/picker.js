// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: judges the sum of the features that are ticked, finds the allocator that has it, and shows what is known of it.
// Invariant: what is ticked, the address and the answer agree. A sum is judged as features.hpp judges it, rule by rule.
// Must not know: which features, rules and allocators there are.
"use strict";

const kNear = 5; // allocators that are offered where none has the sum
const lab = JSON.parse(document.getElementById("document").textContent);
const names = lab.words.map((word) => word.name);
const boxes = new Map();
let shown = null; // an allocator that is no sum of features

function element(tag, options = {}, ...children) {
    const made = Object.assign(document.createElement(tag), options);
    made.append(...children);
    return made;
}

function drawn(tag, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    return made;
}

function sumOf(features) {
    return names.filter((name) => features.has(name));
}

function allows(rule, features) {
    const common = (some) => some.filter((name) => features.has(name)).length;
    const hasAll = (some) => common(some) === some.length;
    const concerns = hasAll(rule.where) && (rule.where_any.length === 0 || common(rule.where_any) > 0);
    const isKept =
        hasAll(rule.needs) &&
        common(rule.excludes) === 0 &&
        (rule.needs_one.length === 0 || common(rule.needs_one) === 1);
    return isKept || !concerns;
}

function broken(features) {
    return lab.rules.filter((rule) => !allows(rule, features));
}

function ticked() {
    return new Set(names.filter((name) => boxes.get(name).checked));
}

function tick(features) {
    for (const [name, box] of boxes) box.checked = features.has(name);
}

// The features that one sum has and the other has not, with a sign.
function changes(features, allocator) {
    const theirs = new Set(allocator.sum);
    const added = sumOf(theirs).filter((name) => !features.has(name));
    const removed = sumOf(features).filter((name) => !theirs.has(name));
    return [...added.map((name) => `+ ${name}`), ...removed.map((name) => `− ${name}`)];
}

function nearest(features) {
    return lab.allocators
        .filter((allocator) => allocator.sum !== null)
        .map((allocator) => ({ allocator, changes: changes(features, allocator) }))
        .sort((a, b) => a.changes.length - b.changes.length)
        .slice(0, kNear);
}

function listOfNear(features) {
    const list = element("ul", { className: "near" });
    for (const { allocator, changes: changed } of nearest(features)) {
        const button = element("button", { type: "button", textContent: allocator.name });
        button.addEventListener("click", () => start(allocator));
        list.append(
            element("li", {}, button, " ", element("span", { className: "dim", textContent: changed.join(" ") })),
        );
    }
    return [element("h2", { textContent: "The nearest allocators of the lab" }), list];
}

// What a reader writes to have the sum as an allocator.
function fileOf(sum) {
    return [
        "// What: one sentence that says what the allocator is.",
        "// Invariant: one sentence that always holds.",
        "#pragma once",
        "",
        '#include "parts/composed/composed.hpp"',
        "namespace gr::lab {",
        `using Chosen = Composed<${sum.join(" + ")}>;`,
        "}  // namespace gr::lab",
    ].join("\n");
}

function rowOf(label, ...cells) {
    return element("tr", {}, element("th", { scope: "row", textContent: label }), ...cells);
}

function numberCell(text) {
    return element("td", { className: "number", textContent: text });
}

function tableOf(title, rows, note) {
    return [
        element("h2", { textContent: title }),
        element("table", {}, element("tbody", {}, ...rows)),
        element("p", { className: "dim", textContent: note }),
    ];
}

// From the least to the most of all allocators, by the logarithm.
function scaleOf(kind) {
    const all = lab.allocators.flatMap((allocator) => Object.values(allocator.bars[kind]).flatMap((bar) => bar.drawn));
    const [least, most] = [Math.min(...all), Math.max(...all)].map(Math.log);
    return (value) => (100 * (Math.log(value) - least)) / (most - least);
}

function barOf(scale, [value, low, high]) {
    const picture = drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    const [at, one] = [scale(value), scale(1)];
    const thin = { "vector-effect": "non-scaling-stroke" };
    picture.append(
        drawn("rect", { class: "ratio", x: Math.min(at, one), y: 2, width: Math.abs(at - one), height: 6 }),
        drawn("line", { class: "one", x1: one, x2: one, y1: 0, y2: 10, ...thin }),
        drawn("line", { class: "interval", x1: scale(low), x2: scale(high), y1: 5, y2: 5, ...thin }),
    );
    return element("td", { className: "bar" }, picture);
}

function barsOf(allocator, kind) {
    const scale = scaleOf(kind);
    const rows = Object.entries(lab.cases).map(([name, summary]) => {
        const known = allocator.bars[kind][name];
        const bar = known ? barOf(scale, known.drawn) : element("td", { className: "bar" });
        const row = rowOf(name, bar, numberCell(known?.text ?? "-"));
        row.title = summary;
        return row;
    });
    const title = `${kind[0].toUpperCase()}${kind.slice(1)} over ${lab.base}`;
    return tableOf(
        title,
        rows,
        `Medians with 95 % intervals, of the run of ${allocator.run}; the dashed line is 1. A dash: not in this run.`,
    );
}

function citations(allocator) {
    return allocator.papers.map(({ paper, section }) => (section ? `${paper}, ${section}` : paper)).join("; ");
}

function about(allocator) {
    const counts = lab.counted.map((title) => rowOf(title, numberCell(allocator.counts[title] ?? "-")));
    const facts = [
        ["Paper", citations(allocator)],
        ["Finds", allocator.finds],
        ["Differs", allocator.differs],
    ].filter(([, text]) => text !== "");
    return [
        element("h2", { textContent: allocator.name }),
        element("p", { textContent: allocator.what }),
        ...facts.map(([title, text]) => element("p", {}, element("b", { textContent: `${title}: ` }), text)),
        element(
            "details",
            {},
            element("summary", {}, element("code", { textContent: allocator.file })),
            element("pre", { tabIndex: 0, textContent: allocator.text }),
        ),
        element("pre", { tabIndex: 0, textContent: `granary run --allocator lab:${allocator.name} PROGRAM` }),
        ...tableOf("Counts", counts, "Printed by the tests of test/lab/claims. A dash: no test prints it."),
        ...lab.kinds.flatMap((kind) => barsOf(allocator, kind)),
    ];
}

function refusal(rules) {
    const [first, ...others] = rules;
    return [
        element("p", {}, element("strong", { textContent: "Does not compile: " }), first.why),
        ...others.map((rule) => element("p", { className: "also", textContent: `Also: ${rule.why}` })),
    ];
}

function approval(sum, allocator) {
    const code = element("code", { textContent: sum.join(" + ") });
    const tail = allocator ? `: ${allocator.name}` : ": no allocator of the lab has this sum yet";
    return [element("p", {}, element("strong", { textContent: "Legal: " }), code, tail)];
}

function unwritten(sum) {
    return [
        element("h2", { textContent: "Eight lines to write it" }),
        element(
            "p",
            {},
            "Write them to ",
            element("code", { textContent: "lab/allocators/mine.hpp" }),
            " and run ",
            element("code", { textContent: "make lab" }),
            ". The allocator is ",
            element("code", { textContent: "lab:mine" }),
            ".",
        ),
        element("pre", { tabIndex: 0, textContent: fileOf(sum) }),
    ];
}

function answer() {
    const features = ticked();
    const sum = sumOf(features);
    const verdict = document.getElementById("verdict");
    const found = document.getElementById("found");
    const rules = shown ? [] : broken(features);
    const has = (allocator) =>
        allocator.sum?.length === sum.length && allocator.sum.every((name) => features.has(name));
    const allocator = shown ?? lab.allocators.find(has);
    verdict.classList.toggle("is-refused", rules.length > 0);
    if (shown) {
        const words = ["No sum of features: ", element("code", { textContent: shown.chosen })];
        verdict.replaceChildren(element("p", {}, ...words));
    } else {
        verdict.replaceChildren(...(rules.length > 0 ? refusal(rules) : approval(sum, allocator)));
    }
    if (rules.length > 0) found.replaceChildren(...listOfNear(features));
    else if (allocator) found.replaceChildren(...about(allocator));
    else found.replaceChildren(...unwritten(sum), ...listOfNear(features));
    for (const [name, box] of boxes) {
        const others = new Set(features).add(name);
        const isRefused = rules.length === 0 && !features.has(name) && broken(others).length > 0;
        box.closest("label").classList.toggle("is-refused", isRefused);
        box.title = isRefused ? broken(others)[0].why : "";
    }
    document.getElementById("start").value = rules.length === 0 && allocator ? allocator.name : "";
    history.replaceState(null, "", `#${shown ? shown.name : sum.join("+")}`);
}

function start(allocator) {
    shown = allocator.sum === null ? allocator : null;
    tick(new Set(allocator.sum ?? []));
    answer();
}

// From the address: a sum, or the name of an allocator.
function restore() {
    const address = decodeURIComponent(location.hash.slice(1));
    const allocator = lab.allocators.find(({ name }) => name === address);
    if (allocator) return start(allocator);
    const known = address.split("+").filter((name) => boxes.has(name));
    shown = null;
    tick(new Set(known.length > 0 ? known : lab.allocators[0].sum));
    answer();
}

function build() {
    const form = document.getElementById("features");
    const groups = new Map();
    for (const { name, group, meaning } of lab.words) {
        if (!groups.has(group)) {
            groups.set(group, element("fieldset", {}, element("legend", { textContent: group })));
            form.append(groups.get(group));
        }
        const box = element("input", { type: "checkbox", name });
        boxes.set(name, box);
        groups
            .get(group)
            .append(
                element(
                    "label",
                    { className: "feature" },
                    box,
                    element("span", { className: "name", textContent: name }),
                    element("span", { className: "meaning", textContent: meaning }),
                ),
            );
        box.addEventListener("change", () => {
            shown = null;
            answer();
        });
    }
    const select = document.getElementById("start");
    select.append(element("option", { value: "", textContent: "an allocator" }));
    for (const [label, isSum] of [
        ["sums of features", true],
        ["algorithms of their own", false],
    ]) {
        const options = lab.allocators.filter((allocator) => (allocator.sum !== null) === isSum);
        select.append(
            element(
                "optgroup",
                { label },
                ...options.map(({ name }) => element("option", { value: name, textContent: name })),
            ),
        );
    }
    select.addEventListener("change", () => {
        const allocator = lab.allocators.find(({ name }) => name === select.value);
        if (allocator) start(allocator);
    });
    document.getElementById("clear").addEventListener("click", () => {
        shown = null;
        tick(new Set());
        answer();
    });
    document.getElementById("source").textContent =
        "Times and memory: docs/results/raw/lab.json.gz. Counts: docs/results/raw/lab-counts.txt. Rules: " +
        "lab/parts/stores/features.hpp. Made by lab/picker/picker.py.";
    addEventListener("hashchange", restore);
    restore();
    document.getElementById("page").dataset.ready = "";
}

build();
