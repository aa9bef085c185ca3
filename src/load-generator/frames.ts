/**
 * Counts the `data:` lines of an event stream that arrives in chunks.
 *
 * Guarantees: a line is counted once it is complete, wherever the chunks are split; a chunk is not retained after
 * `push` returns, so that all connections can read into one buffer. Costs one native search per line. Only a few lines
 * are decoded to text: those before the first counted one, the last of each event-loop tick, and those split across
 * chunks. Lines are compared as Latin-1, because the search texts are ASCII.
 */
export type Frames = {
  /** Processes the body bytes from `from` to `to`. Returns the number of completed `data:` lines. */
  push(chunk: Buffer, from: number, to: number): number;
  /** Call before the buffer of the last chunk is reused. */
  settle(): void;
  reset(): void;
  readonly sawFirst: boolean;
  /** True if the last complete `data:` line contains the terminal text. */
  readonly atTerminal: boolean;
};

const NEWLINE = 10;
const MARK = Buffer.from('data:');
const MARK_STARTS_WITH = 'd'.charCodeAt(0);

/** A longer line is compared by its first characters. */
const LONGEST = 1 << 16;

type Reader = {
  readonly first: string;
  readonly terminal: string;
  /** The start of a line whose end has not arrived. */
  carried: string;
  /** The last line, if its chunk still contains it. */
  lastChunk: Buffer | undefined;
  lastFrom: number;
  lastTo: number;
  sawFirst: boolean;
  atTerminal: boolean;
};

export const createFrames = ({ first, terminal }: { first: string; terminal: string }): Frames => {
  const reader: Reader = {
    first,
    terminal,
    carried: '',
    lastChunk: undefined,
    lastFrom: 0,
    lastTo: 0,
    sawFirst: false,
    atTerminal: false,
  };
  return {
    push: (chunk, from, to) => countLines(reader, chunk, from, to),
    settle() {
      const { lastChunk, lastFrom, lastTo } = reader;
      if (!lastChunk) return;
      reader.atTerminal = lastChunk.toString('latin1', lastFrom, lastTo).includes(terminal);
      reader.lastChunk = undefined;
    },
    reset() {
      reader.carried = '';
      reader.lastChunk = undefined;
      reader.sawFirst = false;
      reader.atTerminal = false;
    },
    get sawFirst() {
      return reader.sawFirst;
    },
    get atTerminal() {
      return reader.atTerminal;
    },
  };
};

const countLines = (reader: Reader, chunk: Buffer, from: number, to: number): number => {
  let lines = 0;
  let at = from;
  while (at < to) {
    const newline = chunk.indexOf(NEWLINE, at);
    if (newline < 0 || newline >= to) {
      if (reader.carried.length < LONGEST) reader.carried += chunk.toString('latin1', at, to);
      return lines;
    }
    const counts =
      reader.carried === ''
        ? readLine(reader, chunk, at, newline)
        : readCarried(reader, chunk.toString('latin1', at, newline));
    if (counts) lines += 1;
    at = newline + 1;
  }
  return lines;
};

/** Reads a line that is whole in its chunk. Returns whether it counts. */
const readLine = (reader: Reader, chunk: Buffer, from: number, to: number): boolean => {
  if (!startsWithMark(chunk, from, to)) return false;
  reader.sawFirst ||= chunk.toString('latin1', from, to).includes(reader.first);
  reader.lastChunk = chunk;
  reader.lastFrom = from;
  reader.lastTo = to;
  return true;
};

/** Reads a line that was split across chunks. Returns whether it counts. */
const readCarried = (reader: Reader, rest: string): boolean => {
  const line = reader.carried + rest;
  reader.carried = '';
  if (!line.startsWith('data:')) return false;
  reader.sawFirst ||= line.includes(reader.first);
  reader.atTerminal = line.includes(reader.terminal);
  reader.lastChunk = undefined;
  return true;
};

const startsWithMark = (chunk: Buffer, from: number, to: number): boolean => {
  if (chunk[from] !== MARK_STARTS_WITH || to - from < MARK.length) return false;
  for (let at = 1; at < MARK.length; at += 1) if (chunk[from + at] !== MARK[at]) return false;
  return true;
};
