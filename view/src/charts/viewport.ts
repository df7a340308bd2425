// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the part of a picture that is shown, in one direction: zoomed and moved.
// Invariant: stays within its limits, and no narrower than `least`.
// Must not know: pixels, mouse or keys.

export class Span {
    from: number;
    to: number;
    constructor(
        private low: number,
        private high: number,
        private readonly least: number,
    ) {
        this.from = low;
        this.to = high;
    }
    get width(): number {
        return this.to - this.from;
    }
    get isWhole(): boolean {
        return this.from === this.low && this.to === this.high;
    }
    limit(low: number, high: number): void {
        [this.low, this.high] = [low, high];
        this.reset();
    }
    reset(): void {
        [this.from, this.to] = [this.low, this.high];
    }
    show(from: number, to: number): void {
        const width = Math.min(Math.max(to - from, this.least), this.high - this.low);
        const middle = (from + to) / 2;
        this.from = Math.max(this.low, Math.min(middle - width / 2, this.high - width));
        this.to = this.from + width;
        if (width === this.high - this.low) this.reset();
    }
    // Around a place, which stays where it is: below 1 comes nearer.
    zoom(around: number, factor: number): void {
        const width = Math.min(Math.max(this.width * factor, this.least), this.high - this.low);
        const share = (around - this.from) / (this.width || 1);
        this.show(around - share * width, around + (1 - share) * width);
    }
    move(by: number): void {
        const move = Math.max(this.low - this.from, Math.min(by, this.high - this.to));
        if (move !== 0) this.show(this.from + move, this.to + move);
    }
    // Moves just as far as it takes to show the place.
    reveal(place: number): void {
        if (place < this.from) this.move(place - this.from);
        else if (place > this.to) this.move(place - this.to);
    }
    at(share: number): number {
        return this.from + share * this.width;
    }
    shareOf(place: number): number {
        return (place - this.from) / this.width;
    }
}
