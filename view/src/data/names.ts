// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: long names of functions, cut so that they still tell which they are.
// Invariant: as tool/reporting/document/words.cpp does: first arguments of templates and functions, the innermost first, then the middle.
// Must not know: where the whole name is to be had.

const kCut = "…";
const kLeast = 3; // letters that are worth cutting

// Where what the innermost brackets hold begins and ends. " < " stands between calls, and is no bracket; behind a blank stands
// where in the sources a call is.
function deepestArguments(name: string): [number, number] | null {
    let deepest: [number, number] | null = null;
    let depth = 0;
    const open: number[] = [];
    for (let at = 0; at < name.length; ++at) {
        const letter = name[at]!;
        if (letter === "(" || (letter === "<" && at + 1 < name.length && name[at + 1] !== " ")) open.push(at);
        if (letter !== ")" && letter !== ">") continue;
        const opposite = letter === ")" ? "(" : "<";
        while (letter === ")" && open.length > 0 && name[open[open.length - 1]!] !== opposite) open.pop();
        const last = open[open.length - 1];
        if (last === undefined || name[last] !== opposite) continue;
        const isPlace = name[last - 1] === " ";
        if (!isPlace && at - last - 1 > kLeast && open.length > depth) {
            deepest = [last + 1, at];
            depth = open.length;
        }
        open.pop();
    }
    return deepest;
}

export function shortened(name: string, most: number): string {
    while (name.length > most) {
        const deepest = deepestArguments(name);
        if (deepest === null) break;
        name = name.slice(0, deepest[0]) + kCut + name.slice(deepest[1]);
    }
    if (name.length <= most) return name;
    const right = Math.floor(((most - 1) * 2) / 5);
    const left = name.slice(0, Math.max(0, most - 1 - right)).replace(/…+$/, "");
    return left + kCut + (right > 0 ? name.slice(-right).replace(/^…+/, "") : "");
}
