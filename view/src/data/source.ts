// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where the document comes from: out of the page itself, or from the command that serves it.
// Invariant: only a served document can be refined, and it is asked for with the token that the page was opened with.
// Must not know: what the document says.

import type { ReportDocument } from "../document";
import { bytesOf, checked, documentOf } from "./decode";

export interface DocumentSource {
    // What happened from one moment to another, in slices of its own; null where there is nothing finer.
    readonly refine: ((from: number, to: number) => Promise<ReportDocument>) | null;
    whole(): Promise<ReportDocument>;
}

class Embedded implements DocumentSource {
    readonly refine = null;
    constructor(private readonly base64: string) {}
    whole(): Promise<ReportDocument> {
        return documentOf(bytesOf(this.base64));
    }
}

class Served implements DocumentSource {
    constructor(private readonly token: string) {}
    readonly refine = (from: number, to: number): Promise<ReportDocument> => this.ask({ from: String(from), to: String(to) });
    whole(): Promise<ReportDocument> {
        return this.ask({});
    }
    private async ask(range: Record<string, string>): Promise<ReportDocument> {
        const query = new URLSearchParams({ ...range, token: this.token });
        const reply = await fetch(`/document?${query.toString()}`);
        if (!reply.ok) throw new Error(`granary answered ${reply.status}: ${await reply.text()}`);
        return checked(await reply.json());
    }
}

export function sourceOf(page: Document, address: Location): DocumentSource {
    const embedded = page.getElementById("document")?.textContent?.trim() ?? "";
    if (embedded !== "") return new Embedded(embedded);
    if (address.protocol === "file:") throw new Error("There is no document in this page: granary report puts it there.");
    return new Served(new URLSearchParams(address.search).get("token") ?? "");
}
