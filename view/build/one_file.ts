// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: puts a page's built script and style sheet into its HTML, with the policy that lets these two alone run.
// Invariant: nothing is left beside the one file; its policy names the script and the style sheet by their hashes.
// Must not know: what they do.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import { hashOfSources } from "./sources";

function source(of: string): string {
    return `'sha256-${createHash("sha256").update(of).digest("base64")}'`;
}

// What the page holds of others must say so.
function licences(root: string, packages: string[]): string {
    return packages
        .map((name) => `<!-- ${name}:\n${readFileSync(join(root, "node_modules", name, "LICENSE"), "utf8").trim()} -->`)
        .join("\n");
}

// `granary report --serve` puts 'self' in the place of connect-src's 'none', for the documents that the page asks for.
function policy(script: string, style: string): string {
    return [
        "default-src 'none'",
        `script-src ${source(script)}`,
        `style-src ${source(style)}`,
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ].join("; ");
}

export function oneFile(root: string, name: string, packages: string[]): Plugin {
    return {
        name: "one-file",
        enforce: "post",
        generateBundle(_options, bundle) {
            let script = "";
            let style = "";
            for (const [file, part] of Object.entries(bundle)) {
                if (part.type === "chunk") script += part.code.trim();
                else if (file.endsWith(".css")) style += String(part.source).trim();
                else continue;
                delete bundle[file];
            }
            if (/<\/(script|style)/i.test(script + style))
                this.error("the script or the style sheet holds a closing tag");
            const page = bundle[name];
            if (page?.type !== "asset" || Object.keys(bundle).length !== 1)
                this.error("more than one file would be left");
            page.source = String(page.source)
                .replace(/\s*<script type="module"[^>]*><\/script>/, "")
                .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
                .replace(
                    "<!-- policy -->",
                    () => `<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">`,
                )
                .replace("<!-- sources -->", () => `<meta name="sources" content="${hashOfSources(root)}">`)
                .replace("<!-- licences -->", () => licences(root, packages))
                .replace("<!-- style -->", () => `<style>${style}</style>`)
                .replace("<!-- script -->", () => `<script type="module">${script}</script>`);
        },
    };
}
