// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: puts the built script and style sheet into the HTML, with the policy that lets these two alone run.
// Invariant: nothing is left beside the one file; its policy names the script and the style sheet by their hashes.
// Must not know: what they do.

import { createHash } from "node:crypto";
import type { Plugin } from "vite";
import { hashOfSources } from "./sources";

function source(of: string): string {
    return `'sha256-${createHash("sha256").update(of).digest("base64")}'`;
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

export function oneFile(root: string): Plugin {
    return {
        name: "one-file",
        enforce: "post",
        generateBundle(_options, bundle) {
            let script = "";
            let style = "";
            for (const [name, part] of Object.entries(bundle)) {
                if (part.type === "chunk") script += part.code.trim();
                else if (name.endsWith(".css")) style += String(part.source).trim();
                else continue;
                delete bundle[name];
            }
            if (/<\/(script|style)/i.test(script + style)) this.error("the script or the style sheet holds a closing tag");
            const page = bundle["index.html"];
            if (page?.type !== "asset" || Object.keys(bundle).length !== 1) this.error("more than one file would be left");
            page.source = String(page.source)
                .replace(/\s*<script type="module"[^>]*><\/script>/, "")
                .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
                .replace("<!-- policy -->", () => `<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">`)
                .replace("<!-- sources -->", () => `<meta name="sources" content="${hashOfSources(root)}">`)
                .replace("<!-- style -->", () => `<style>${style}</style>`)
                .replace("<!-- script -->", () => `<script type="module">${script}</script>`);
        },
    };
}
