// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: broken records: the page of granary lab show says in one line what is wrong and where, or shows the record.
// Invariant: the page is never blank; the browser never complains.
// Must not know: how a record is read.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { everyState, hoard, labDocument } from "./lab_fixture.mjs";
import { browser, closeClean, open, pageOf, settings, written } from "./page.mjs";

let running;
before(async () => {
    running = await browser();
});
after(async () => {
    await running.close();
});

// The line of error; null: the page was shown.
async function errorOf(document, name = "broken") {
    const all = await open(running, `file://${written(`lab-${name}`, pageOf(document))}`);
    const alert = all.page.getByRole("alert");
    const error = (await alert.count()) === 0 ? null : await alert.textContent();
    const isShown = (await all.page.locator(".step-number").count()) === 1;
    assert.equal(isShown, error === null, "blank");
    await closeClean(all);
    if (error !== null) assert.match(error, /^This page cannot be shown\. [^\n]{10,400}$/);
    return error;
}
function withRecord(record) {
    return labDocument("broken", { hoard: record });
}
// The record with one of its lines, from 1, changed.
function changed(line, change) {
    const lines = hoard().split("\n");
    const value = JSON.parse(lines[line - 1]);
    lines[line - 1] = JSON.stringify(change(value) ?? value);
    return lines.join("\n");
}

const kMistakes = {
    "an empty record": ["", "The record of hoard is empty."],
    "a head alone": [hoard().split("\n")[0], "has no step"],
    "another format": [
        changed(1, (head) => void (head.format = "granary-lab-show 2")),
        'damaged in line 1: its format is not "granary-lab-show 1"',
    ],
    "no JSON": [`${hoard()}{"step":`, "damaged in line 67: the line is not JSON"],
    "a line that is no object": [changed(5, () => [1]), "damaged in line 5: the line is not an object"],
    "a step without a call": [changed(4, (step) => void delete step.call), 'damaged in line 4: "call" is not a text'],
    "events that are no list": [
        changed(3, (step) => void (step.events = {})),
        'damaged in line 3: "events" is not a list',
    ],
    "an event without its place": [
        changed(3, (step) => void delete step.events[0].place),
        'damaged in line 3: "place" is not a text',
    ],
    "a state that is none": [changed(2, (step) => void (step.blocks["b.0"].state = "lost")), 'no state "lost"'],
    "a size below 0": [changed(2, (step) => void (step.containers["s.1"].bytes = -1)), '"bytes" is below 0'],
    "a number that is a text": [
        changed(2, (step) => void (step.places["heap.1"].numbers.u = "64")),
        'damaged in line 2: "u" is not a number',
    ],
    "a container that stands nowhere": [
        changed(2, (step) => void (step.containers["s.1"].place = "heap.9")),
        "s.1 is in heap.9, which is not there",
    ],
    "a block without its container": [
        changed(3, (step) => void (step.containers["s.1"] = null)),
        "damaged in line 3: b.0 is in s.1, which is not there",
    ],
    "a place in itself": [
        changed(2, (step) => void (step.places["heap.1"].parent = "heap.1.low")),
        "damaged in line 2",
    ],
};
for (const [name, [record, expected]] of Object.entries(kMistakes)) {
    test(name, async () => {
        const error = await errorOf(withRecord(record));
        assert.ok(error?.includes(expected), String(error));
    });
}

test("what later versions may add is passed over", async () => {
    const record = changed(2, (step) => {
        step.events.push({ kind: "a kind of event that comes later", place: 1 });
        step.blocks["b.0"].colour = "blue";
    });
    assert.equal(await errorOf(withRecord(record)), null);
});

test("documents that are none", async () => {
    assert.match(await errorOf({ ...withRecord(hoard()), version: 2 }), /version 1; this one says 2/);
    assert.match(await errorOf(null), /cannot be shown/);
    assert.match(await errorOf({ version: 1, title: "none", runs: [] }), /holds no record/);
});

// Bytes that are gone, doubled, swapped or others, by a generator with a seed.
test("records that were broken at random", async () => {
    let state = 5;
    const random = (below) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
    };
    const whole = everyState();
    let refused = 0;
    for (let at = 0; at < settings.tries; ++at) {
        let record = whole;
        for (let wounds = 1 + random(3); wounds > 0; --wounds) {
            const begin = random(record.length);
            const end = Math.min(record.length, begin + 1 + random(random(4) === 0 ? 400 : 4));
            const instead = ["", record.slice(begin, end).repeat(2), '"', "{", "null", "-1", "\u0000", "\n"][random(8)];
            record = record.slice(0, begin) + instead + record.slice(end);
        }
        if ((await errorOf(withRecord(record), "random")) !== null) ++refused;
    }
    assert.ok(refused > settings.tries / 2 && refused < settings.tries, `${refused} of ${settings.tries} refused`);
});
