/**
 * Splits the bytes of a pipe into lines. Of a line beyond the limit, only both ends are kept, which is where a message
 * contains the id of its request.
 *
 * Cost: one scan of each byte, and one copy of a line that arrived in chunks.
 */
export type LineReader = {
  readonly most: number;
  readonly onLine: (line: Buffer) => void;
  readonly onTooLong: (ends: string) => void;
  pieces: Buffer[];
  bytes: number;
  /** The ends of a line that is being skipped. */
  skipped: { head: Buffer; tail: Buffer } | undefined;
};

const END_BYTES = 512;
const NEWLINE = 0x0a;

export const createLineReader = (options: Pick<LineReader, 'most' | 'onLine' | 'onTooLong'>): LineReader => ({
  ...options,
  pieces: [],
  bytes: 0,
  skipped: undefined,
});

export const feedLines = (reader: LineReader, chunk: Buffer): void => {
  let from = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
    take(reader, chunk.subarray(from, at));
    end(reader);
    from = at + 1;
  }
  if (from < chunk.length) take(reader, chunk.subarray(from));
};

const take = (reader: LineReader, part: Buffer): void => {
  if (reader.skipped) {
    reader.skipped.tail = Buffer.concat([reader.skipped.tail, part.subarray(-END_BYTES)]).subarray(
      -END_BYTES,
    );
    return;
  }
  reader.pieces.push(part);
  reader.bytes += part.length;
  if (reader.bytes <= reader.most) return;
  const all = Buffer.concat(reader.pieces);
  reader.skipped = {
    head: Buffer.from(all.subarray(0, END_BYTES)),
    tail: Buffer.from(all.subarray(-END_BYTES)),
  };
  drop(reader);
};

const end = (reader: LineReader): void => {
  const { skipped, pieces } = reader;
  reader.skipped = undefined;
  drop(reader);
  const [first] = pieces;
  if (skipped) reader.onTooLong(`${skipped.head.toString()} ${skipped.tail.toString()}`);
  else if (first) reader.onLine(pieces.length === 1 ? first : Buffer.concat(pieces));
};

const drop = (reader: LineReader): void => {
  reader.pieces = [];
  reader.bytes = 0;
};
