// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: gives the reader a file.
// Invariant: nothing leaves the page but that file.
// Must not know: what is in it.

import { make } from "../parts/dom";

const kKept = 60_000; // milliseconds that the browser has to take it

export function download(name: string, text: string): void {
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), kKept);
}
