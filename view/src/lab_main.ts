// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: starts the page of granary lab show, or says in one line why it cannot be shown.
// Invariant: an error is seen by the reader.
// Must not know: what is on the page.

import "./style/ground.css";
import "./style/parts.css";
import "./style/lab.css";
import { labDocument } from "./lab/lab_document";
import { showLab } from "./lab/lab_page";
import { make } from "./parts/dom";
import { Theme } from "./parts/theme";

const root = document.getElementById("page")!;
const theme = new Theme();

labDocument(document)
    .then(({ title, runs }) => showLab(root, title, runs, theme))
    .catch((error: unknown) => {
        const text = error instanceof Error ? error.message : String(error);
        root.replaceChildren(make("p", { class: "failed", role: "alert" }, `This page cannot be shown. ${text}`));
    })
    .finally(() => (root.dataset.ready = "true"));
