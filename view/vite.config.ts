// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how the page is built: one script, one style sheet, one file.
// Invariant: the same sources give the same bytes.
// Must not know: what is on the page.

import { defineConfig } from "vite";
import { oneFile } from "./build/one_file";

export default defineConfig({
    plugins: [oneFile(import.meta.dirname ?? ".")],
    build: {
        target: "es2022",
        outDir: "dist",
        assetsInlineLimit: 0,
        cssCodeSplit: false,
        modulePreload: false,
        reportCompressedSize: false,
    },
});
