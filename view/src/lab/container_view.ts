// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a container with its blocks, drawn as a strip of cells.
// Invariant: each cell says in words what its colour says.
// Must not know: where the container stands.

import { format, grouped } from "../data/units";
import { make } from "../parts/dom";
import { blockName, blockWords, stateWords, threadClass, threadName } from "./names";
import type { Block, Container } from "./record";
import type { Run } from "./run";
import { stripOf, type Segment } from "./segments";

// What the drawings of one run at one moment share.
export interface Scene {
    run: Run;
    step: number;
    isOwn: boolean; // the step is of this moment, so what it changed is outlined
    block: string | null; // whose history is shown
    thread: number | null; // whose blocks stand out
}

const kWordyCells = 16; // up to so many cells have room for a name
const kFewCells = 48; // up to so many pieces of a strip have room for an outline
const kLongestName = 6; // letters

export function hasChanged(scene: Scene, id: string): boolean {
    const { places, containers, blocks } = scene.run.step(scene.step);
    return scene.isOwn && (places.has(id) || containers.has(id) || blocks.has(id));
}

// The lock of a place or a container: held when the step ends, or taken in it.
export function lockMarks(scene: Scene, id: string): HTMLElement[] {
    const { run, step, isOwn } = scene;
    const events = isOwn ? run.step(step).events.filter((event) => "place" in event && event.place === id) : [];
    const holder = run.locked[step]!.get(id);
    const words = [
        ...(holder !== undefined ? [`held by ${threadName(holder)}`] : []),
        ...(events.some(({ kind }) => kind === "wait") ? ["waited for"] : []),
        ...(holder === undefined && events.some(({ kind }) => kind === "lock") ? ["locked"] : []),
    ];
    return words.map((text) => make("span", { class: "locked" }, text));
}

export function blockClass(scene: Scene, block: { state: string; thread: number | null }): string {
    const isFaded = scene.thread !== null && block.thread !== scene.thread;
    return `cell ${block.state} ${threadClass(block.thread)}${isFaded ? " faded" : ""}`;
}

function told(scene: Scene, { ids, state, thread, extent }: Segment, isByBytes: boolean): string {
    const [first] = ids;
    const size = isByBytes ? format(extent, "bytes") : `${grouped(extent)} blocks`;
    if (first === undefined) return `${extent === 1 ? "" : `${size}: `}${stateWords(state)}`;
    const by = thread !== null && state === "used" ? ` by ${threadName(thread)}` : "";
    if (ids.length > 1) return `${size}: ${stateWords(state)}${by}`;
    const block = scene.run.blocks.at(first, scene.step)!;
    return `${blockName(scene.run, first, scene.step)}, ${format(block.bytes, "bytes")}: ${blockWords(block)}`;
}

function cellOf(scene: Scene, segment: Segment, isByBytes: boolean, isWordy: boolean): HTMLElement {
    const { ids, name, extent, changed } = segment;
    const [id] = ids;
    const chosen = scene.block !== null && ids.includes(scene.block);
    const marks = `${changed ? " changed" : ""}${chosen ? " chosen" : ""}`;
    const cell = make("span", { class: blockClass(scene, segment) + marks, title: told(scene, segment, isByBytes) });
    if (id !== undefined && ids.length === 1) cell.dataset.block = id;
    if (isWordy && name !== null && name.length <= kLongestName) cell.append(name);
    cell.style.setProperty("--extent", String(extent));
    return cell;
}

function summaryOf(blocks: [string, Block][], container: Container): string {
    const counts = new Map<string, number>();
    for (const [, { state }] of blocks) counts.set(state, (counts.get(state) ?? 0) + 1);
    const words = ["used", "remote", "buffered"].flatMap((state) => {
        const count = counts.get(state) ?? 0;
        return count > 0 ? [`${grouped(count)} ${state}`] : [];
    });
    const all = container.blocks > 0 ? ` of ${grouped(container.blocks)}` : "";
    return words.length === 0 ? "empty" : `${words.join(", ")}${all}`;
}

export function containerView(scene: Scene, id: string, container: Container, blocks: [string, Block][]): HTMLElement {
    const strip = stripOf(container, blocks, (block) => hasChanged(scene, block));
    const isByBytes = container.blocks === 0 || blocks.some(([, block]) => block.offset !== null);
    const isWordy = strip.segments.length <= kWordyCells;
    const cells = strip.segments.map((segment) => cellOf(scene, segment, isByBytes, isWordy));
    const isDense = strip.segments.length > kFewCells;
    const shape = strip.isMerged ? `merged${isWordy ? " few" : isDense ? " dense" : ""}` : isWordy ? "wordy" : "grid";
    const summary = summaryOf(blocks, container);
    const sizes = container.block > 0 ? `${format(container.block, "bytes")} blocks` : format(container.bytes, "bytes");
    const figures = Object.entries(container.numbers).map(([name, value]) => `${name} ${grouped(value)}`);
    return make(
        "div",
        { class: `container${hasChanged(scene, id) ? " changed" : ""}`, "data-id": id },
        make(
            "p",
            { class: "container-label" },
            make("strong", {}, container.label),
            make("span", { class: "small" }, ` ${[sizes, ...figures].join(" · ")} `),
            ...lockMarks(scene, id),
        ),
        make("div", { class: `strip ${shape}`, role: "img", "aria-label": `${container.label}: ${summary}` }, ...cells),
    );
}
