// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how the page is built: one script, one style sheet, one file.
// Invariant: the same sources give the same bytes.
// Must not know: what is on the page.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { oneFile } from "./build/one_file";

export default defineConfig({
    plugins: [oneFile(fileURLToPath(new URL(".", import.meta.url)))],
    build: {
        target: "es2022",
        outDir: "dist",
        assetsInlineLimit: 0,
        cssCodeSplit: false,
        modulePreload: false,
        reportCompressedSize: false,
    },
});
