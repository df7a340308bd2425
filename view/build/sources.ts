// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one hash over all that the pages are built from.
// Invariant: depends on the names and contents of the files alone; test/view/sources.py computes the same.
// Must not know: what the files hold.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const kFolders = ["build", "src"];
const kFiles = ["index.html", "lab.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"];

function filesUnder(root: string, folder: string): string[] {
    return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? filesUnder(root, `${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
    );
}

export function hashOfSources(root: string): string {
    const paths = [...kFiles, ...kFolders.flatMap((folder) => filesUnder(root, folder))].sort();
    const all = createHash("sha256");
    for (const path of paths) {
        const one = createHash("sha256")
            .update(readFileSync(join(root, path)))
            .digest("hex");
        all.update(`${one}  ${path}\n`);
    }
    return all.digest("hex");
}
