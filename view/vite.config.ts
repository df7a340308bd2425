// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how a page is built: one script, one style sheet, one file.
// Invariant: the same sources give the same bytes.
// Must not know: what is on a page.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { oneFile } from "./build/one_file";

// By the mode that vite is started with: the page's file, and the packages that are in it.
const kPages: Record<string, { file: string; packages: string[] }> = {
    report: { file: "index.html", packages: ["uplot"] },
    lab: { file: "lab.html", packages: [] },
};

export default defineConfig(({ mode }) => {
    const page = kPages[mode];
    if (page === undefined) throw new Error(`there is no page ${mode}; start vite with --mode report or --mode lab`);
    return {
        plugins: [oneFile(fileURLToPath(new URL(".", import.meta.url)), page.file, page.packages)],
        build: {
            target: "es2022",
            outDir: "dist",
            emptyOutDir: false,
            assetsInlineLimit: 0,
            cssCodeSplit: false,
            modulePreload: false,
            reportCompressedSize: false,
            rollupOptions: { input: page.file },
        },
    };
});
