// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the keys and the mouse do on a page, as a list in a dialog.
// Invariant: closes by its button and by Escape.
// Must not know: which page it is.

import { make } from "./dom";

export function keysDialog(keys: [key: string, does: string][]): HTMLDialogElement {
    const rows = keys.map(([key, does]) => make("div", {}, make("dt", {}, key), make("dd", {}, does)));
    const close = make("button", { type: "button", click: () => dialog.close() }, "Close");
    const dialog = make(
        "dialog",
        { class: "keys", "aria-label": "Keys and mouse" },
        make("h2", {}, "Keys and mouse"),
        make("dl", {}, ...rows),
        close,
    );
    return dialog;
}
