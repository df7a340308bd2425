// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the document that granary lab show puts into the page, as runs.
// Invariant: tool/commands/lab/lab_record.cpp writes what is read here; whatever cannot be shown is one line of error.
// Must not know: how runs are drawn.

import { parsedOf } from "../data/decode";
import { readRecord } from "./record";
import { Run } from "./run";

export interface LabDocument {
    title: string;
    runs: Run[];
}

interface Written {
    version: 1;
    title: string;
    runs: { name: string; record: string }[];
}

export async function labDocument(page: Document): Promise<LabDocument> {
    const embedded = page.getElementById("document")?.textContent?.trim() ?? "";
    if (embedded === "") throw new Error("There is no record in this page: granary lab show puts it there.");
    const written = (await parsedOf(embedded)) as Written;
    if (written.version !== 1)
        throw new Error(`This page reads documents of version 1; this one says ${String(written.version)}.`);
    if (written.runs.length === 0) throw new Error("The document holds no record.");
    const runs = written.runs.map(({ name, record }) => new Run(name, readRecord(name, record)));
    return { title: written.title, runs };
}
