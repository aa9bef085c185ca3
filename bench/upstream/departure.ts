/**
 * The departure time of a token as its text: microseconds of the monotonic clock, which all processes of a host share,
 * in a fixed number of characters, so that a reader can find it without parsing the event around it.
 */

const DIGITS = 10;
const RADIX = 36;

/**
 * Text before a token in the frames of Troupe, the proxies and `ai`. The text of a whole response has a different
 * prefix.
 */
const BEFORE = Buffer.from('"delta":"@');

export function nowMicros(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + Math.floor(nanoseconds / 1000);
}

/** Ends in a space, like a word. */
export function formatDeparture(micros: number): string {
  return `@${micros.toString(RADIX).padStart(DIGITS, '0')} `;
}

/** Reports every departure time between two positions of a stream, except one that is split at the end. */
export function readDepartures(
  piece: Buffer,
  from: number,
  to: number,
  report: (micros: number) => void,
): void {
  let at = piece.indexOf(BEFORE, from);
  while (at >= 0) {
    const start = at + BEFORE.length;
    if (start + DIGITS > to) return;
    report(Number.parseInt(piece.toString('latin1', start, start + DIGITS), RADIX));
    at = piece.indexOf(BEFORE, start + DIGITS);
  }
}
