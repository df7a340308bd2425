// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the places of a run at one moment, as boxes in boxes: heaps, in them groups and lists, in them containers.
// Invariant: a box that never holds anything is left out at every moment, so that the boxes stay where they are.
// Must not know: how blocks lie in a container.

import { grouped } from "../data/units";
import { make } from "../parts/dom";
import { blockClass, containerView, hasChanged, lockMarks, type Scene } from "./container_view";
import { blockName, blockWords, threadClass, threadName } from "./names";
import type { Block, Container, Numbers, Place } from "./record";
import type { State } from "./run";

// What stands in what.
interface Tree {
    places: Map<string | null, [string, Place][]>;
    containers: Map<string | null, [string, Container][]>;
    blocks: Map<string, [string, Block][]>; // by container
    listed: Map<string | null, [string, Block][]>; // by the list that holds them
}

// So many blocks of a list are drawn.
const kMostListed = 24;

function grown<K, V>(into: Map<K, V[]>, key: K, value: V): void {
    const known = into.get(key);
    if (known === undefined) into.set(key, [value]);
    else known.push(value);
}

function treeOf(state: State): Tree {
    const tree: Tree = { places: new Map(), containers: new Map(), blocks: new Map(), listed: new Map() };
    for (const named of state.places) grown(tree.places, named[1].parent, named);
    for (const named of state.containers) grown(tree.containers, named[1].place, named);
    for (const named of state.blocks) {
        const { container, place } = named[1];
        if (container !== null) grown(tree.blocks, container, named);
        if (place !== null || container === null) grown(tree.listed, place, named);
    }
    return tree;
}

function change(now: number, before: number | undefined): string {
    if (before === undefined || before === now) return "";
    return ` (${now > before ? "+" : "−"}${grouped(Math.abs(now - before))})`;
}

function numbersOf(scene: Scene, id: string, numbers: Numbers): HTMLElement[] {
    const before = scene.isOwn && scene.step > 0 ? scene.run.places.at(id, scene.step - 1)?.numbers : undefined;
    return Object.entries(numbers).map(([name, value]) => {
        const difference = change(value, before?.[name]);
        return make(
            "span",
            { class: difference === "" ? "number-of" : "number-of changed" },
            make("i", {}, name),
            ` ${grouped(value)}${difference}`,
        );
    });
}

function listedView(scene: Scene, listed: [string, Block][]): HTMLElement[] {
    if (listed.length === 0) return [];
    const chips = listed.slice(0, kMostListed).map(([id, block]) => {
        const name = blockName(scene.run, id, scene.step);
        const marks = `${hasChanged(scene, id) ? " changed" : ""}${scene.block === id ? " chosen" : ""}`;
        const title = `${name}: ${blockWords(block)}`;
        return make("span", { class: `${blockClass(scene, block)} chip${marks}`, "data-block": id, title }, name);
    });
    const more =
        listed.length > kMostListed ? [make("span", { class: "small" }, `+ ${listed.length - kMostListed}`)] : [];
    const label = `${listed.length} ${listed.length === 1 ? "block" : "blocks"}`;
    return [make("div", { class: "listed", role: "img", "aria-label": label }, ...chips, ...more)];
}

function placeView(scene: Scene, tree: Tree, id: string, place: Place): HTMLElement {
    const inner = innerViews(scene, tree, id);
    const owner =
        place.thread === null
            ? []
            : [make("span", { class: `owner ${threadClass(place.thread)}` }, threadName(place.thread))];
    const head = make(
        "p",
        { class: "place-label" },
        make("strong", {}, place.label),
        ...owner,
        ...numbersOf(scene, id, place.numbers),
        ...lockMarks(scene, id),
    );
    const level = place.parent === null ? "outer" : "inner";
    const marks = `${inner.length === 0 ? " empty" : ""}${hasChanged(scene, id) ? " changed" : ""}`;
    return make(
        "section",
        { class: `place ${level} ${place.kind}${marks}`, "data-id": id, "aria-label": place.label },
        head,
        ...inner,
    );
}

function innerViews(scene: Scene, tree: Tree, id: string | null): HTMLElement[] {
    const places = (tree.places.get(id) ?? []).filter(
        ([one, place]) => scene.run.filled.has(one) || place.kind === "global",
    );
    const containers = tree.containers.get(id) ?? [];
    const held = containers.map(([one, container]) => containerView(scene, one, container, tree.blocks.get(one) ?? []));
    return [
        ...places.map(([one, place]) => placeView(scene, tree, one, place)),
        ...(held.length === 0 ? [] : [make("div", { class: "containers" }, ...held)]),
        ...listedView(scene, tree.listed.get(id) ?? []),
    ];
}

export function placesView(scene: Scene): HTMLElement {
    return make("div", { class: "places" }, ...innerViews(scene, treeOf(scene.run.stateAt(scene.step)), null));
}
