// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bytes out of base64, and a document out of its bytes.
// Invariant: a document of another version is refused with one line.
// Must not know: where the bytes came from.

import type { ReportDocument } from "../document";

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; ++at) bytes[at] = text.charCodeAt(at);
    return bytes;
}

async function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
}

export function checked(document: unknown): ReportDocument {
    const version = (document as { version?: unknown } | null)?.version;
    if (version !== 1) throw new Error(`This page reads documents of version 1; this one says ${String(version)}.`);
    return document as ReportDocument;
}

// What an embedded document says, whichever page it is for.
export async function parsedOf(base64: string): Promise<unknown> {
    return JSON.parse(await unzipped(bytesOf(base64)));
}

export async function documentOf(base64: string): Promise<ReportDocument> {
    return checked(await parsedOf(base64));
}
