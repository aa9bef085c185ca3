/** Retains the frames of a replay buffer and joins adjacent deltas. */

/** A part of the response that grows by deltas. */
export type Block = {
  /** Creates the frame of a text of the block. */
  encode(text: string): string;
};

/** The addition of a delta frame to its block. */
export type Delta = { block: Block; text: string };

/**
 * `oldest` contains entries that are joined as far as possible. `recent` contains later ones in their original form, of
 * which the first `taken` have been moved. Moving an entry takes constant time.
 */
export const createRetained = (capacity: number) => {
  let oldest: Entry[] = [];
  let recent: Single[] = [];
  let taken = 0;

  const compact = (): void => {
    while (oldest.length + recent.length - taken > capacity) {
      const next = recent[taken];
      if (!next) return;
      taken += 1;
      const joined = join(oldest.at(-1), next);
      if (joined) oldest[oldest.length - 1] = joined;
      else oldest.push(next);
    }
    if (taken > capacity) {
      recent = recent.slice(taken);
      taken = 0;
    }
  };

  return {
    push(entry: Single): void {
      recent.push(entry);
      compact();
    },
    after(position: number | undefined): string[] {
      const entries = [...oldest, ...recent.slice(taken)];
      return entries.flatMap((entry) => (isFor(entry, position) ? (textAfter(entry, position) ?? []) : []));
    },
    clear(): void {
      oldest = [];
      recent = [];
      taken = 0;
    },
  };
};

export type Single = {
  last: number;
  frame: string;
  delta: Delta | undefined;
  /** Set for new readers only: the first position of the adjacent recalled frames. */
  recalled?: number;
};

/**
 * Joined deltas as bytes: substrings and concatenations would keep all original frames in memory. `ends` contains, for
 * each position from `first` to `last`, the number of bytes up to and including it; a position of another stream of the
 * thread ends where the previous one does.
 */
type Joined = { first: number; last: number; block: Block; text: Buffer; length: number; ends: Uint32Array };

type Entry = Single | Joined;

/** Joins two entries if they are deltas of the same block. */
const join = (entry: Entry | undefined, { last, delta: added }: Single): Joined | undefined => {
  if (!entry || !added) return undefined;
  const first = 'delta' in entry ? entry.delta : entry;
  if (first?.block !== added.block) return undefined;
  const joined = 'delta' in entry ? beginJoin(entry.last, added.block) : entry;
  if ('delta' in entry) add(joined, entry.last, entry.delta?.text ?? '');
  add(joined, last, added.text);
  return joined;
};

const FIRST_BYTES = 256;
const FIRST_ENDS = 64;

const beginJoin = (first: number, block: Block): Joined => ({
  first,
  last: first - 1,
  block,
  text: Buffer.allocUnsafeSlow(FIRST_BYTES),
  length: 0,
  ends: new Uint32Array(FIRST_ENDS),
});

const add = (joined: Joined, position: number, text: string): void => {
  const bytes = Buffer.byteLength(text);
  if (joined.length + bytes > joined.text.length) {
    const grown = Buffer.allocUnsafeSlow(2 * (joined.length + bytes));
    joined.text.copy(grown, 0, 0, joined.length);
    joined.text = grown;
  }
  joined.text.write(text, joined.length);
  const count = position - joined.first + 1;
  if (count > joined.ends.length) {
    const grown = new Uint32Array(2 * count);
    grown.set(joined.ends);
    joined.ends = grown;
  }
  joined.ends.fill(joined.length, joined.last - joined.first + 1, count - 1);
  joined.length += bytes;
  joined.ends[count - 1] = joined.length;
  joined.last = position;
};

export const framed = (position: number, frame: string): string => `id: ${position}\n${frame}`;

/** A reader that has one of the recalled frames is a new reader that reconnects. */
const isFor = (entry: Entry, after: number | undefined): boolean =>
  !('recalled' in entry && entry.recalled !== undefined) || after === undefined || after >= entry.recalled;

/** Returns the part of the entry that a reader at this position lacks. */
const textAfter = (entry: Entry, after = 0): string | undefined => {
  if (entry.last <= after) return undefined;
  if ('delta' in entry) return framed(entry.last, entry.frame);
  const had = after < entry.first ? 0 : (entry.ends[after - entry.first] ?? 0);
  return framed(entry.last, entry.block.encode(entry.text.toString('utf8', had, entry.length)));
};
