/**
 * Counts the `data:` lines of an event stream that comes in pieces.
 *
 * Guarantees: a line is counted once it is complete, wherever the pieces are cut; a piece is not kept after
 * `push` returns, so that all connections can read into one buffer. Costs one native search a line. Text is made
 * of few lines: those before the first that counts, the last of each turn, and those cut by the end of a piece.
 * Lines are compared as Latin-1: what is looked for is ASCII.
 */
export type Frames = {
  /** Body bytes from `from` to `to`. Returns how many `data:` lines were completed. */
  push(piece: Buffer, from: number, to: number): number;
  /** To be called before the buffer of the last piece is used again. */
  settle(): void;
  reset(): void;
  readonly sawFirst: boolean;
  /** The last complete `data:` line has the terminal text. */
  readonly atTerminal: boolean;
};

const NEWLINE = 10;
const MARK = Buffer.from('data:');
const MARK_STARTS_WITH = 'd'.charCodeAt(0);

/** A longer line is compared by its beginning. */
const LONGEST = 1 << 16;

export const createFrames = ({ first, terminal }: { first: string; terminal: string }): Frames => {
  let carried = '';
  let lastPiece: Buffer | undefined;
  let lastFrom = 0;
  let lastTo = 0;
  let sawFirst = false;
  let atTerminal = false;

  const wholeLine = (piece: Buffer, from: number, to: number): boolean => {
    if (!startsWithMark(piece, from, to)) return false;
    sawFirst ||= piece.toString('latin1', from, to).includes(first);
    lastPiece = piece;
    lastFrom = from;
    lastTo = to;
    return true;
  };

  const carriedLine = (rest: string): boolean => {
    const line = carried + rest;
    carried = '';
    if (!line.startsWith('data:')) return false;
    sawFirst ||= line.includes(first);
    atTerminal = line.includes(terminal);
    lastPiece = undefined;
    return true;
  };

  return {
    push(piece, from, to) {
      let lines = 0;
      let at = from;
      while (at < to) {
        const newline = piece.indexOf(NEWLINE, at);
        if (newline < 0 || newline >= to) {
          if (carried.length < LONGEST) carried += piece.toString('latin1', at, to);
          return lines;
        }
        const counts =
          carried === '' ? wholeLine(piece, at, newline) : carriedLine(piece.toString('latin1', at, newline));
        if (counts) lines += 1;
        at = newline + 1;
      }
      return lines;
    },
    settle() {
      if (!lastPiece) return;
      atTerminal = lastPiece.toString('latin1', lastFrom, lastTo).includes(terminal);
      lastPiece = undefined;
    },
    reset() {
      carried = '';
      lastPiece = undefined;
      sawFirst = false;
      atTerminal = false;
    },
    get sawFirst() {
      return sawFirst;
    },
    get atTerminal() {
      return atTerminal;
    },
  };
};

const startsWithMark = (piece: Buffer, from: number, to: number): boolean => {
  if (piece[from] !== MARK_STARTS_WITH || to - from < MARK.length) return false;
  for (let at = 1; at < MARK.length; at += 1) if (piece[from + at] !== MARK[at]) return false;
  return true;
};
