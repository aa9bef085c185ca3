/**
 * One HTTP/1.1 response after the other from a socket, as much of the protocol as a load needs: status, and a
 * body that is chunked, of known length or ended by the end of the connection.
 *
 * Guarantees: body bytes are handed on as ranges of the buffer they came in, never copied; any cut of the input
 * gives the same result. Relies on requests that are not pipelined: bytes after the end of a response are a
 * fault of the server. Costs a few steps for each chunk and nothing for each byte of a body.
 */
export type ResponseSink = {
  head(status: number): void;
  body(piece: Buffer, from: number, to: number): void;
  /** `reusable`: another request may be sent on this connection. */
  end(reusable: boolean): void;
};

export type ResponseReader = {
  /** @returns what is wrong with the response, if anything is */
  push(piece: Buffer, length: number): string | undefined;
  /** The connection has ended, and with it a body of unknown length. */
  finish(): void;
  reset(): void;
};

type State = 'head' | 'size' | 'chunk' | 'chunk-end' | 'trailer' | 'length' | 'to-the-end' | 'done';

const CR = 13;
const NEWLINE = 10;
const SEMICOLON = 59;
const LONGEST_HEAD = 1 << 16;

export const createResponseReader = (sink: ResponseSink): ResponseReader => {
  let state: State = 'head';
  let text = '';
  let left = 0;
  let inExtension = false;
  let reusable = true;

  const end = (): void => {
    state = 'done';
    sink.end(reusable);
  };

  const takeHead = (piece: Buffer, at: number, to: number): number | string => {
    const before = text.length;
    text += piece.toString('latin1', at, Math.min(to, at + LONGEST_HEAD));
    const close = text.indexOf('\r\n\r\n', Math.max(0, before - 3));
    if (close < 0) return text.length > LONGEST_HEAD ? 'a head without an end' : to;
    const head = parseHead(text.slice(0, close));
    text = '';
    if (!head) return 'not an HTTP/1.1 response';
    reusable = head.keepAlive && head.body !== 'to-the-end';
    left = head.length;
    inExtension = false;
    state = head.body;
    sink.head(head.status);
    if (state === 'length' && left === 0) end();
    return at + close + 4 - before;
  };

  const takeSize = (piece: Buffer, from: number, to: number): number | string => {
    for (let at = from; at < to; at += 1) {
      const byte = piece[at] ?? 0;
      if (byte === NEWLINE) {
        state = left === 0 ? 'trailer' : 'chunk';
        inExtension = false;
        return at + 1;
      }
      if (byte === SEMICOLON) inExtension = true;
      if (inExtension || byte === CR) continue;
      const digit = hexDigit(byte);
      if (digit < 0) return 'a chunk without a size';
      left = left * 16 + digit;
    }
    return to;
  };

  const takeBody = (piece: Buffer, at: number, to: number): number => {
    const until = Math.min(to, at + left);
    sink.body(piece, at, until);
    left -= until - at;
    if (left > 0) return until;
    if (state === 'chunk') state = 'chunk-end';
    else end();
    return until;
  };

  /** Through the next newline; of trailers, only that an empty line ends them matters. */
  const takeLine = (piece: Buffer, from: number, to: number): number => {
    const newline = piece.indexOf(NEWLINE, from);
    if (newline < 0 || newline >= to) {
      text += piece.toString('latin1', from, to);
      return to;
    }
    const line = text + piece.toString('latin1', from, newline);
    text = '';
    if (state === 'chunk-end') state = 'size';
    else if (line.trim() === '') end();
    return newline + 1;
  };

  const takeAll = (piece: Buffer, at: number, to: number): number => {
    sink.body(piece, at, to);
    return to;
  };

  const take: Record<State, (piece: Buffer, at: number, to: number) => number | string> = {
    head: takeHead,
    size: takeSize,
    chunk: takeBody,
    'chunk-end': takeLine,
    trailer: takeLine,
    length: takeBody,
    'to-the-end': takeAll,
    done: () => 'bytes after the end of the response',
  };

  return {
    push(piece, length) {
      let at = 0;
      while (at < length) {
        const next = take[state](piece, at, length);
        if (typeof next === 'string') return next;
        at = next;
      }
      return undefined;
    },
    finish() {
      if (state === 'to-the-end') end();
    },
    reset() {
      state = 'head';
      text = '';
      left = 0;
      reusable = true;
    },
  };
};

const hexDigit = (byte: number): number => {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
};

type Head = { status: number; keepAlive: boolean; body: 'size' | 'length' | 'to-the-end'; length: number };

const parseHead = (text: string): Head | undefined => {
  const [first = '', ...lines] = text.split('\r\n');
  const [, minor, status] = /^HTTP\/1\.([01]) (\d{3})/.exec(first) ?? [];
  if (status === undefined) return undefined;
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const connection = headers.get('connection')?.toLowerCase();
  const keepAlive = minor === '1' ? connection !== 'close' : connection === 'keep-alive';
  const common = { status: Number(status), keepAlive };
  if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') {
    return { ...common, body: 'size', length: 0 };
  }
  const length = Number(headers.get('content-length') ?? (status === '204' ? 0 : Number.NaN));
  if (Number.isSafeInteger(length) && length >= 0) return { ...common, body: 'length', length };
  return { ...common, body: 'to-the-end', length: 0 };
};
