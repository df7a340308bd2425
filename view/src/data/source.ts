// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where the document comes from: out of the page itself, or from the command that serves it.
// Invariant: only a served document can be refined, and it is asked for with the token that the page was opened with. Of
//            several questions the last counts: those before end as superseded.
// Must not know: what the document says.

import type { ReportDocument } from "../document";
import { checked, documentOf } from "./decode";

// How much of the work is done, from 0 to 1.
export type Progress = (done: number) => void;

export class Superseded extends Error {}

export interface DocumentSource {
    // What can be told at once, before the whole is known; null where the whole is there already.
    readonly first: (() => Promise<ReportDocument>) | null;
    // What happened from one moment to another, in slices of its own; null where there is nothing finer.
    readonly refine: ((from: number, to: number, progress: Progress) => Promise<ReportDocument>) | null;
    whole(progress: Progress): Promise<ReportDocument>;
}

class Embedded implements DocumentSource {
    readonly first = null;
    readonly refine = null;
    constructor(private readonly base64: string) {}
    whole(): Promise<ReportDocument> {
        return documentOf(this.base64);
    }
}

const kPause = 150; // milliseconds between one look at how far the work is and the next
const kAccepted = 202;

class Served implements DocumentSource {
    private readonly page = crypto.randomUUID();
    private questions = 0;

    constructor(private readonly token: string) {}
    readonly first = async (): Promise<ReportDocument> => checked(await (await this.get("/first", {})).json());
    readonly refine = (from: number, to: number, progress: Progress): Promise<ReportDocument> =>
        this.ask({ from: String(from), to: String(to) }, progress);
    whole(progress: Progress): Promise<ReportDocument> {
        return this.ask({}, progress);
    }

    private async ask(range: Record<string, string>, progress: Progress): Promise<ReportDocument> {
        const question = ++this.questions;
        for (;;) {
            const reply = await this.get("/document", { ...range, page: this.page });
            if (question !== this.questions) throw new Superseded();
            if (reply.status !== kAccepted) return checked(await reply.json());
            progress(((await reply.json()) as { done: number }).done);
            await new Promise((later) => setTimeout(later, kPause));
            if (question !== this.questions) throw new Superseded();
        }
    }
    private async get(path: string, parameters: Record<string, string>): Promise<Response> {
        const query = new URLSearchParams({ ...parameters, token: this.token });
        const reply = await fetch(`${path}?${query.toString()}`).catch(() => {
            throw new Error("granary does not answer: granary report --serve has ended.");
        });
        if (!reply.ok) throw new Error(`granary answered ${reply.status}: ${await reply.text()}`);
        return reply;
    }
}

export function sourceOf(page: Document, address: Location): DocumentSource {
    const embedded = page.getElementById("document")?.textContent?.trim() ?? "";
    if (embedded !== "") return new Embedded(embedded);
    if (address.protocol === "file:")
        throw new Error("There is no document in this page: granary report puts it there.");
    return new Served(new URLSearchParams(address.search).get("token") ?? "");
}
