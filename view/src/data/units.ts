// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: numbers as people read them, by their unit.
// Invariant: three significant digits, but for exact(), which keeps every digit of a count.
// Must not know: where a number comes from or stands.

import type { Unit } from "../document";

const kBinary = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const kDecimal = ["", "k", "M", "G", "T", "P", "E"];
const kSpace = "\u00a0";

// Three significant digits without an exponent; zeros at the end go.
function short(value: number): string {
    const size = Math.abs(value);
    const text = value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function scaled(value: number, step: number, names: string[]): string {
    if (Math.abs(value) >= step ** (names.length + 0.5))
        return `${value.toExponential(1)}${names[0] === "" ? "" : `${kSpace}${names[0]}`}`;
    let at = 0;
    while (Math.abs(Number(short(value))) >= step && at + 1 < names.length) {
        value /= step;
        ++at;
    }
    const name = names[at] ?? "";
    return name === "" ? short(value) : `${short(value)}${kSpace}${name}`;
}

export function grouped(value: number): string {
    if (Math.abs(value) >= 1e18) return value.toExponential(3);
    const [whole = "", part] = (Number.isInteger(value) ? String(value) : short(value)).split(".");
    const text = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return part === undefined ? text : `${text}.${part}`;
}

function count(value: number): string {
    return Math.abs(value) < 10_000 ? grouped(value) : scaled(value, 1000, kDecimal);
}

function duration(value: number): string {
    const size = Math.abs(value);
    if (size === 0) return `0${kSpace}s`;
    if (size < 0.9995e-6) return `${short(value * 1e9)}${kSpace}ns`;
    if (size < 0.9995e-3) return `${short(value * 1e6)}${kSpace}µs`;
    if (size < 0.9995) return `${short(value * 1e3)}${kSpace}ms`;
    if (size < 120) return `${short(value)}${kSpace}s`;
    if (size < 7200) return `${short(value / 60)}${kSpace}min`;
    return `${short(value / 3600)}${kSpace}h`;
}

// Digits of moments behind the seconds: as many as tell slices of a window apart, and parts of them.
const kUsualPlaces = 3;
const kMostPlaces = 7; // a trace's unit of time
let places = kUsualPlaces;
export function tellMomentsOf(slices: number[]): void {
    const [begin = 0] = slices;
    const width = ((slices.at(-1) ?? 0) - begin) / Math.max(slices.length - 1, 1);
    const wanted = begin === 0 || width <= 0 ? 0 : Math.ceil(1 - Math.log10(width));
    places = Math.max(kUsualPlaces, Math.min(wanted, kMostPlaces));
}

// A moment: to a thousandth of a second or finer, or with minutes and hours before the colons.
function moment(value: number, digits = places): string {
    if (digits === kUsualPlaces && value !== 0 && Math.abs(value) < 1) return duration(value);
    const seconds = Number(value.toFixed(digits));
    if (seconds < 120) return `${seconds.toFixed(digits).replace(/\.?0+$/, "")}${kSpace}s`;
    const whole = Math.floor(seconds);
    const two = (part: number): string => String(part).padStart(2, "0");
    const rest = (seconds - whole).toFixed(digits).slice(2).replace(/0+$/, "");
    const tail = rest === "" ? "" : `.${rest}`;
    const minutes = Math.floor(whole / 60);
    return minutes < 60
        ? `${minutes}:${two(whole % 60)}${tail}`
        : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}${tail}`;
}

// With the limits of the command's sentences.
function share(value: number): string {
    return value > 0.999 && value < 1 ? `>${kSpace}99.9${kSpace}%` : percent(value);
}

function percent(value: number): string {
    if (value !== 0 && Math.abs(value) < 0.001) return `${value < 0 ? `>${kSpace}-` : `<${kSpace}`}0.1${kSpace}%`;
    return `${short(value * 100)}${kSpace}%`;
}

export function format(value: number | string | null | undefined, unit: Unit): string {
    if (value === null || value === undefined) return "–";
    if (typeof value === "string") return value;
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
    switch (unit) {
        case "bytes":
            return scaled(value, 1024, kBinary);
        case "seconds":
            return duration(value);
        case "time":
            return moment(value);
        case "count":
        case "events":
            return count(value);
        case "per second":
            return `${count(value)}/s`;
        case "fraction":
            return share(value);
        case "growth":
            return percent(value);
        case "address":
            return `0x${value.toString(16)}`;
        case "text":
            return String(value);
    }
}

// For tables: counts with all their digits, and moments where the page tells them finely.
export function exact(value: number | string | null | undefined, unit: Unit): string {
    if (typeof value !== "number" || !Number.isFinite(value)) return format(value, unit);
    if (unit === "count" || unit === "events") return grouped(value);
    return unit === "time" && places > kUsualPlaces ? moment(value, kMostPlaces) : format(value, unit);
}

// A value with the word for what it counts.
export function told(value: number | null | undefined, unit: Unit, name: string): string {
    return `${name}: ${format(value, unit)}`;
}
