// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a tree of calls with sums over what each node called; as recorded, or turned: from where things were allocated
//       up through their callers.
// Invariant: a node's total is its own value and its children's totals; the root's total is the same either way.
// Must not know: pixels; what is measured.

export interface Call {
    frame: number; // -1: all
    own: number;
    total: number;
    parent: Call | null;
    depth: number;
    children: Call[]; // by name, so that the picture stays as it is when the window moves
}

function root(): Call {
    return { frame: -1, own: 0, total: 0, parent: null, depth: 0, children: [] };
}

function child(parent: Call, frame: number): Call {
    const call = { frame, own: 0, total: 0, parent, depth: parent.depth + 1, children: [] };
    parent.children.push(call);
    return call;
}

// Children without anything go; the others stand by their frames' names.
function settle(call: Call, names: (frame: number) => string): void {
    call.children = call.children.filter(({ total }) => total > 0);
    call.children.sort((a, b) => names(a.frame).localeCompare(names(b.frame), "en") || a.frame - b.frame);
    for (const below of call.children) settle(below, names);
}

export function callees(
    parents: number[],
    frames: number[],
    own: Float64Array,
    names: (frame: number) => string,
): Call {
    const calls: Call[] = [];
    parents.forEach((parent, node) => {
        const call = node === 0 ? root() : child(calls[parent]!, frames[node]!);
        call.own = call.total = own[node] ?? 0;
        calls.push(call);
    });
    for (let node = calls.length - 1; node > 0; --node) calls[parents[node]!]!.total += calls[node]!.total;
    const top = calls[0] ?? root();
    settle(top, names);
    return top;
}

export function callers(
    parents: number[],
    frames: number[],
    own: Float64Array,
    names: (frame: number) => string,
): Call {
    const top = root();
    const known = new Map<Call, Map<number, Call>>();
    own.forEach((value, start) => {
        if (value === 0) return;
        top.total += value;
        let call = top;
        for (let node = start; node !== 0; node = parents[node]!) {
            const below = known.get(call) ?? known.set(call, new Map()).get(call)!;
            const frame = frames[node]!;
            const next = below.get(frame) ?? child(call, frame);
            below.set(frame, next);
            next.total += value;
            call = next;
        }
        call.own += value;
    });
    settle(top, names);
    return top;
}

export interface FunctionSum {
    frame: number;
    own: number;
    total: number; // with what it called, once, however often it stands in one stack
}

export function functions(top: Call): FunctionSum[] {
    const sums = new Map<number, FunctionSum>();
    const above = new Map<number, number>();
    const visit = (call: Call): void => {
        const times = above.get(call.frame) ?? 0;
        const sum = sums.get(call.frame) ?? { frame: call.frame, own: 0, total: 0 };
        sums.set(call.frame, sum);
        sum.own += call.own;
        if (times === 0) sum.total += call.total;
        above.set(call.frame, times + 1);
        for (const below of call.children) visit(below);
        above.set(call.frame, times);
    };
    for (const below of top.children) visit(below);
    return [...sums.values()].sort((a, b) => b.own - a.own || b.total - a.total);
}

export interface Neighbours {
    own: number;
    total: number;
    above: Map<number, number>; // by the caller's frame; -1: the function is outermost
    below: Map<number, number>; // by the callee's frame
}

// What calls a function and what it calls, by what their stacks have together.
export function neighbours(top: Call, frame: number): Neighbours {
    const found: Neighbours = { own: 0, total: 0, above: new Map(), below: new Map() };
    const add = (sums: Map<number, number>, at: number, value: number): void => {
        if (value > 0) sums.set(at, (sums.get(at) ?? 0) + value);
    };
    // What lies under a call without what lies under another of the function within it.
    const without = (call: Call): number =>
        call.frame === frame ? 0 : call.own + call.children.reduce((sum, below) => sum + without(below), 0);
    const visit = (call: Call, isInside: boolean): void => {
        const isIt = call.frame === frame;
        if (isIt) {
            found.own += call.own;
            if (!isInside) {
                found.total += call.total;
                add(found.above, call.parent?.frame ?? -1, call.total);
            }
            for (const below of call.children) add(found.below, below.frame, without(below));
        }
        for (const below of call.children) visit(below, isInside || isIt);
    };
    visit(top, false);
    return found;
}
