// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: documents for the tests: a rich one with every kind of chart, and small ones at the edges of what can be.
// Invariant: the same numbers on every machine; whole numbers stay below 2^53, so that sums are exact.
// Must not know: the page.

function generator(seed) {
    let state = seed >>> 0;
    return (below) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
    };
}

const kSlices = 60;
const kEnd = 30;
export const kMarks = [
    { time: 4, text: "parsed" },
    { time: 12.5, text: "phase 2 – größer" },
    { time: 24, text: "написано" },
];

function edges(low, high, count) {
    return Array.from({ length: count + 1 }, (_, at) => low + ((high - low) * at) / count);
}
function powers(base, first, last) {
    return Array.from({ length: last - first + 1 }, (_, at) => base ** (first + at));
}

function overview() {
    const at = edges(0, kEnd, 600);
    const live = at.map((time) =>
        Math.round(2 ** 26 * (0.2 + time / 40 + 0.25 * Math.max(0, Math.sin(time * 0.8)) + (time > 24 ? -0.4 : 0))),
    );
    const resident = live.map((value, index) =>
        Math.round(Math.max(...live.slice(Math.max(0, index - 80), index + 1)) * 1.15),
    );
    return {
        kind: "series",
        title: "Live and resident memory over the run",
        x: { label: "time", unit: "time", scale: "linear" },
        y: { label: "bytes", unit: "bytes", scale: "linear" },
        stacked: false,
        step: false,
        at,
        series: [
            { name: "resident", values: resident },
            { name: "live", values: live },
        ],
    };
}

function sizes(random) {
    const buckets = [
        16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792,
        2048, 4096, 8192, 16384, 65536, 1048576,
    ];
    const slices = Array.from({ length: kSlices }, () =>
        buckets.slice(1).map((_, at) => Math.floor(random(4000) / (1 + at * at * 0.15))),
    );
    return {
        kind: "bars",
        title: "Allocations by size",
        cumulative: true,
        x: { label: "size asked for", unit: "bytes", scale: "log" },
        y: { label: "allocations", unit: "count", scale: "linear" },
        edges: buckets,
        series: [{ name: "allocations", slices }],
    };
}

function lifetimes(random) {
    const slices = () =>
        Array.from({ length: kSlices }, () =>
            Array.from({ length: 24 }, (_, at) => random(1 + Math.floor(9000 / (1 + (at - 8) ** 2)))),
        );
    return {
        kind: "bars",
        title: "How long blocks live",
        cumulative: false,
        x: { label: "lifetime", unit: "seconds", scale: "log" },
        y: { label: "blocks", unit: "count", scale: "log" },
        edges: powers(10 ** 0.375, -19, 5).map((value) => value),
        series: [
            { name: "small", slices: slices() },
            { name: "large", slices: slices() },
            {
                name: "huge",
                slices: Array.from({ length: kSlices }, () => Array.from({ length: 24 }, () => random(3))),
            },
        ],
    };
}

function inOneLine(random) {
    return {
        kind: "series",
        title: "Where resident bytes are",
        x: { label: "time", unit: "time", scale: "linear" },
        y: { label: "bytes", unit: "bytes", scale: "linear" },
        stacked: true,
        step: true,
        at: edges(0, kEnd, 300),
        series: ["asked for", "lost in classes", "free, held", "of the allocator"].map((name, at) => ({
            name,
            values: edges(0, kEnd, 300).map((time) =>
                Math.round(1e6 * (6 - at) * (1 + 0.5 * Math.sin(time / (at + 1))) + random(2e5)),
            ),
        })),
    };
}

function survival() {
    const at = powers(2, -20, 5);
    return {
        kind: "series",
        title: "Share of blocks freed by an age",
        x: { label: "age", unit: "seconds", scale: "log" },
        y: { label: "share", unit: "fraction", scale: "linear" },
        stacked: false,
        step: false,
        at,
        series: [
            { name: "by blocks", values: at.map((age) => 1 - 1 / (1 + (age * 2000) ** 0.7)) },
            {
                name: "by bytes",
                values: at.map((age, index) => (index === 3 ? null : 1 - 1 / (1 + (age * 40) ** 0.6))),
            },
        ],
    };
}

function base64(bytes) {
    return Buffer.from(bytes).toString("base64");
}

function map(random) {
    const [columns, rows] = [480, 200];
    const gaps = [60, 140];
    const yEdges = [];
    let address = 0x55d0_4c3e_0000;
    for (let row = 0; row <= rows; ++row) {
        yEdges.push(address);
        address += gaps.includes(row) ? 0x2a2f_0000_0000 : 65536;
    }
    const live = new Uint8Array(columns * rows);
    const resident = new Uint8Array(columns * rows);
    for (let row = 0; row < rows; ++row) {
        if (gaps.includes(row)) continue;
        const start = random(200);
        for (let column = start; column < columns; ++column) {
            const wave = Math.sin(row * 0.11) * 90 + Math.sin(column * 0.02 + row) * 50 + 120;
            live[row * columns + column] =
                column > 380 && row % 3 !== 0 ? random(12) : Math.max(1, Math.min(255, wave + random(30)));
            resident[row * columns + column] = column > 420 && row % 7 === 0 ? 0 : 255;
        }
    }
    return {
        kind: "heat",
        title: "Memory map",
        x: { label: "time", unit: "time", scale: "linear" },
        y: { label: "address", unit: "address", scale: "linear" },
        columns,
        rows,
        x_edges: [0, kEnd],
        y_edges: yEdges,
        y_gaps: gaps,
        cells: base64(live),
        low: 1,
        high: 65536,
        scale: { label: "live", unit: "bytes", scale: "linear" },
        beside: [{ name: "resident", cells: base64(resident) }],
    };
}

function sizeByLifetime(random) {
    const [columns, rows] = [30, 21];
    const cells = Uint8Array.from({ length: columns * rows }, (_, at) => {
        const [column, row] = [at % columns, Math.floor(at / columns)];
        const value = 255 - (column - 8 - row * 0.3) ** 2 * 2 - (row - 7) ** 2 * 3 + random(40);
        return Math.max(0, Math.min(255, value));
    });
    return {
        kind: "heat",
        title: "Size against lifetime",
        x: { label: "size", unit: "bytes", scale: "log" },
        y: { label: "lifetime", unit: "seconds", scale: "log" },
        columns,
        rows,
        x_edges: powers(2, 0, 30).map((value) => value * 8),
        y_edges: powers(10 ** 0.5, -16, 5),
        cells: base64(cells),
        low: 1,
        high: 2e6,
        scale: { label: "blocks", unit: "count", scale: "log" },
    };
}

function threads(random) {
    const names = ["main", "worker 1", "worker 2", "worker 3", "logger", "пул <script>"];
    return {
        kind: "matrix",
        title: "Who frees whose blocks",
        rows: names,
        columns: names,
        row_label: "allocated by",
        column_label: "freed by",
        unit: "bytes",
        values: names.map((_, row) =>
            names.map((_, column) =>
                row === column
                    ? 3e7 + random(4e7)
                    : row === 0 || column === 4
                      ? random(2e7)
                      : random(3) === 0
                        ? random(90000)
                        : 0,
            ),
        ),
    };
}

const kModules = ["program", "libstdc++.so.6", "libxml2.so.2", "libc.so.6"];
export function frames() {
    const names = [
        "main",
        "run(Options const&)",
        "parse_file",
        "Parser::statement()",
        "Parser::expression()",
        "std::vector<Token, std::allocator<Token>>::push_back(Token&&)",
        "std::string::_M_create",
        "Tree::insert(Node*)",
        "operator new(unsigned long)",
        "xmlNewNode",
        "xmlStrdup",
        "strdup",
        'Übersetzer::lies("große Datei")',
        "emit",
        "optimise",
        "fold_constants",
        "Pool::grow",
        "0x7f3a10",
    ];
    return names.map((name, at) => ({
        name,
        file: at % 3 === 2 ? "" : `src/part_${at % 5}.cpp`,
        line: 10 + at * 7,
        module: kModules[at === 5 || at === 6 || at === 8 ? 1 : at === 9 || at === 10 ? 2 : at === 11 ? 3 : 0],
    }));
}

function flame(random) {
    const parents = [-1, 0, 1];
    const nodeFrames = [-1, 0, 1];
    const depth = [0, 1, 2];
    while (parents.length < 700) {
        const parent =
            parents.length < 40 ? 2 + random(parents.length - 2) : 2 + random(Math.min(parents.length - 2, 400));
        if (depth[parent] > 18) continue;
        parents.push(parent);
        nodeFrames.push(2 + random(16));
        depth.push(depth[parent] + 1);
    }
    const sliced = (most) =>
        Array.from({ length: kSlices }, () => {
            const nodes = Array.from(new Set(Array.from({ length: 90 }, () => 3 + random(parents.length - 3)))).sort(
                (a, b) => a - b,
            );
            return { nodes, values: nodes.map(() => 1 + random(most)) };
        });
    return {
        kind: "flame",
        title: "Allocated bytes by call",
        parents,
        frames: nodeFrames,
        measures: [
            { name: "bytes", unit: "bytes", slices: sliced(1e6) },
            { name: "blocks", unit: "count", slices: sliced(2 ** 40) },
            { name: "at the peak", unit: "bytes", values: parents.map((_, node) => (node > 2 ? random(100000) : 0)) },
        ],
    };
}

function sites(random) {
    return {
        kind: "bars",
        title: "Call sites that hold pages",
        cumulative: true,
        edges: [],
        x: { label: "call site", unit: "text", scale: "linear" },
        y: { label: "held", unit: "bytes", scale: "linear" },
        labels: [
            "Pool::grow",
            "Tree::insert(Node*)",
            "std::vector<Token, std::allocator<Token>>::push_back(Token&&)",
            "Übersetzer::lies",
            "xmlStrdup",
        ],
        series: [
            { name: "pages held back", values: [4e7, 2.2e7, 9e6, 4e6, 1e5] },
            { name: "of them live", values: [5e6, 2.9e6, 2.6e6, 2.7e5, 2.8e4] },
        ],
    };
}

function statistics() {
    return {
        kind: "table",
        title: "Calls",
        columns: [
            { name: "call", unit: "text" },
            { name: "calls", unit: "count" },
            { name: "bytes", unit: "bytes" },
            { name: "median", unit: "seconds" },
            { name: "share", unit: "fraction" },
        ],
        rows: [
            ["malloc", 3084123, 2 ** 33, 1.9e-8, 0.61],
            ["free", 3012977, 0, 1.2e-8, 0.3],
            ['calloc, "zeroed"', 40211, 12345678, 4.1e-7, 0.05],
            ["realloc\nin place", 9007199254740991, 1e300, 3.3e-6, 1e-9],
        ],
    };
}

function extremes() {
    const huge = [0, 1, Number.MAX_SAFE_INTEGER, 2 ** 62, 1e300];
    return {
        kind: "bars",
        title: "Huge numbers",
        cumulative: true,
        x: { label: "thing", unit: "count", scale: "linear" },
        y: { label: "count", unit: "count", scale: "log" },
        edges: [0, 1, 2, 3, 4, 5],
        series: [{ name: "count", values: huge }],
    };
}

// Steps upon each other, with names as long as the command's; rows that open to names of files and to stacks.
const kMemory = [
    "blocks in use, from malloc",
    "held by the allocator, not in use",
    "mapped by the program or a library, without malloc",
    "code of the program and of libraries",
    "all others, at most 1 % each",
];
function resident() {
    const at = Array.from({ length: 12 }, (_, step) => ((step + 1) * kEnd) / 12);
    const file = "/usr/lib/python3/dist-packages/a_folder/_json.cpython-311-x86_64-linux-gnu.so";
    const stack =
        "load_all(std::map<…>&) (long_name_of_a_file.cpp:1201) < parse(int, char**) (main.cpp:17) < main (main.cpp:3)";
    return [
        {
            kind: "series",
            title: "Resident memory by kind",
            x: { label: "time", unit: "time", scale: "linear" },
            y: { label: "resident bytes", unit: "bytes", scale: "linear" },
            stacked: true,
            step: true,
            at,
            series: kMemory.map((name, kind) => ({
                name,
                values: at.map((_, step) => (step * (5 - kind) + 1) * 2 ** 20),
            })),
        },
        {
            kind: "table",
            title: "Resident memory by kind, 21 s after the start",
            columns: [
                { name: "memory", unit: "text" },
                { name: "resident", unit: "bytes" },
                { name: "share", unit: "fraction" },
                { name: "addresses", unit: "bytes" },
            ],
            rows: kMemory.map((name, kind) => [name, (5 - kind) * 2 ** 24, (5 - kind) / 15, (5 - kind) * 2 ** 25]),
            parts: kMemory.map((_, kind) => (kind < 4 ? [[kind % 2 === 0 ? file : stack, 2 ** 23, 0.1, 2 ** 24]] : [])),
        },
    ];
}

export function rich() {
    const random = generator(15);
    const section = (id, question, answer, ...charts) => ({ id, question, answer, charts });
    return {
        version: 1,
        title: "cc1plus big.cpp",
        facts: [
            ["Command", "cc1plus -O2 big.cpp -o big.s"],
            ["Allocator", "glibc 2.36"],
            ["Machine", "2 cores, Linux 6.1"],
            ["Recorded", "25 November 2026, 30 s, all calls, stacks sampled by 64 KiB"],
            ["Events", "6,127,311"],
        ],
        notes: ["The recording lost 1,204 events of worker 3, between 12.1 s and 12.2 s."],
        story: [
            "At most 81.2 MiB were live, at 21.4 s; the program held 1.31 times as much.",
            "Nine of ten blocks lived less than 40 µs, and 62 % were freed by the very next call.",
            "Four call sites keep 71.5 MiB of pages from going back, for 5.1 MiB of live blocks.",
        ],
        overview: overview(),
        slices: edges(0, kEnd, kSlices),
        marks: kMarks,
        frames: frames(),
        sections: [
            section(
                "sizes",
                "How large are the blocks?",
                "Half of all requests ask for at most 80 B; the largest is 1 MiB. Two sizes, 32 B and 48 B, make up a third.",
                sizes(random),
            ),
            section(
                "lifetimes",
                "How long do blocks live?",
                "Half of all blocks live less than 12 µs. Large blocks live longer: their median is 3.1 ms.",
                lifetimes(random),
                survival(),
                sizeByLifetime(random),
            ),
            section(
                "footprint",
                "Where does resident memory go?",
                "At its peak the program asked for 76 % of what was resident; 11 % was free and held.",
                inOneLine(random),
            ),
            section(
                "resident",
                "What is the resident memory made of?",
                "Of 254 MiB resident 21 s after the start, 110 MiB are mapped by the program or its libraries without malloc.",
                ...resident(),
            ),
            section(
                "map",
                "Where do blocks lie?",
                "The heap grew upward until 12 s and was then filled from holes. After 24 s a tenth of each page is live, but nearly all stay resident.",
                map(random),
            ),
            section(
                "threads",
                "Who frees whose memory?",
                "Seven of a hundred blocks are freed by another thread than the one that asked for them.",
                threads(random),
            ),
            section(
                "calls",
                "Where does it come from?",
                "Parser::statement() and what it calls allocate 58 % of all bytes.",
                flame(random),
                sites(random),
            ),
            section(
                "statistics",
                "What was called, how often, and how long did it take?",
                "malloc and free are 97 % of 6.1 million calls.",
                statistics(),
                extremes(),
            ),
            section("leaks", "What was never freed?", "Nothing.", {
                kind: "table",
                title: "Blocks left",
                columns: [{ name: "site", unit: "text" }],
                rows: [],
            }),
            section("none", "A question without pictures?", "It has an answer all the same."),
        ],
    };
}

export function oneSlice() {
    const document = rich();
    return {
        ...document,
        title: 'one <slice> & "more"',
        notes: [],
        story: [],
        slices: [0, kEnd],
        marks: [],
        compared: ["glibc", "granary"],
        sections: [
            {
                id: "one",
                question: "One slice?",
                answer: "Yes.",
                charts: [
                    {
                        ...sizes(generator(3)),
                        series: [{ name: "allocations", slices: [[5, ...new Array(27).fill(1)]] }],
                    },
                    {
                        kind: "series",
                        title: "One moment",
                        x: { label: "time", unit: "time", scale: "linear" },
                        y: { label: "bytes", unit: "bytes", scale: "log" },
                        stacked: false,
                        step: true,
                        at: [1],
                        series: [{ name: "live", values: [0] }],
                    },
                    {
                        kind: "matrix",
                        title: "No thread",
                        rows: [],
                        columns: [],
                        row_label: "a",
                        column_label: "b",
                        unit: "count",
                        values: [],
                    },
                    { kind: "flame", title: "No call", parents: [], frames: [], measures: [] },
                    {
                        kind: "flame",
                        title: "A root alone",
                        parents: [-1],
                        frames: [-1],
                        measures: [{ name: "bytes", unit: "bytes", values: [0] }],
                    },
                    {
                        kind: "heat",
                        title: "One cell",
                        x: { label: "time", unit: "time", scale: "linear" },
                        y: { label: "address", unit: "address", scale: "linear" },
                        columns: 1,
                        rows: 1,
                        x_edges: [0, 30],
                        y_edges: [4096, 8192],
                        cells: base64([9]),
                        low: 1,
                        high: 2,
                        scale: { label: "live", unit: "bytes", scale: "linear" },
                    },
                    {
                        kind: "heat",
                        title: "No cell",
                        x: { label: "x", unit: "count", scale: "log" },
                        y: { label: "y", unit: "count", scale: "log" },
                        columns: 0,
                        rows: 0,
                        x_edges: [0, 0],
                        y_edges: [0, 0],
                        cells: "",
                        low: 0,
                        high: 0,
                        scale: { label: "n", unit: "count", scale: "log" },
                    },
                    { ...sites(generator(2)), labels: [], series: [] },
                ],
            },
        ],
    };
}

export function empty() {
    return {
        version: 1,
        title: "",
        facts: [],
        notes: [],
        story: [],
        overview: null,
        slices: [],
        marks: [],
        frames: [],
        sections: [],
    };
}

// About six million bytes of page: 40 maps of noise.
export function large() {
    const random = generator(6);
    const document = rich();
    const noise = (at) => ({
        ...map(random),
        title: `Map ${at}`,
        columns: 600,
        rows: 201,
        y_gaps: [],
        y_edges: [4096, 4096 * 202],
        cells: base64(Uint8Array.from({ length: 600 * 201 }, () => random(256))),
        beside: [],
    });
    return {
        ...document,
        sections: [
            ...document.sections,
            {
                id: "large",
                question: "Large?",
                answer: "Yes.",
                charts: Array.from({ length: 37 }, (_, at) => noise(at)),
            },
        ],
    };
}
