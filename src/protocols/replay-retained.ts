/** The frames that a replay buffer keeps, and how neighbouring deltas become one. */

/** A part of the answer that grows by deltas. */
export type Block = {
  /** The frame of this much of it. */
  encode(text: string): string;
};

/** What a frame adds to a block, if it is a delta. */
export type Delta = { block: Block; text: string };

/**
 * The oldest entries, as joined as they can be, and behind them those as they came, of which the first `taken` have
 * moved over. Moving one costs the same however many there are.
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
  /** For newcomers: the position of the first of its neighbours that are so too. */
  recalled?: number;
};

/** Deltas that became one; `positions` and `ends` say which they were and where in the text each of them ends. */
type Joined = { last: number; block: Block; text: string; positions: number[]; ends: number[] };

type Entry = Single | Joined;

/** Both in one, if they are deltas of the same block. */
const join = (entry: Entry | undefined, { last, delta: added }: Single): Joined | undefined => {
  if (!entry || !added) return undefined;
  const first = 'delta' in entry ? entry.delta : entry;
  if (first?.block !== added.block) return undefined;
  const joined = 'delta' in entry ? beginJoin(entry.last, first) : entry;
  joined.text += added.text;
  joined.last = last;
  joined.positions.push(last);
  joined.ends.push(joined.text.length);
  return joined;
};

const beginJoin = (last: number, { block, text }: Delta): Joined => ({
  last,
  block,
  text,
  positions: [last],
  ends: [text.length],
});

export const framed = (position: number, frame: string): string => `id: ${position}\n${frame}`;

/** Whoever has one of the recalled frames is a newcomer that comes back. */
const isFor = (entry: Entry, after: number | undefined): boolean =>
  !('recalled' in entry && entry.recalled !== undefined) || after === undefined || after >= entry.recalled;

/** What a reader that has everything up to the position still needs of the entry. */
const textAfter = (entry: Entry, after = 0): string | undefined => {
  if (entry.last <= after) return undefined;
  if ('delta' in entry) return framed(entry.last, entry.frame);
  const had = entry.positions.findLastIndex((position) => position <= after);
  return framed(entry.last, entry.block.encode(entry.text.slice(entry.ends[had] ?? 0)));
};
