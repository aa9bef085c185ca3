/**
 * Parses successive HTTP/1.1 responses from a socket, as much of the protocol as a load needs: the status, and a body
 * that is chunked, of known length or ended by the end of the connection.
 *
 * Guarantees: body bytes are passed on as ranges of the buffer they arrived in, never copied; any split of the input
 * gives the same result. Relies on requests that are not pipelined: bytes after the end of a response are an error of
 * the server. Costs a few steps per chunk and nothing per byte of a body.
 */
export type ResponseSink = {
  head(status: number): void;
  body(chunk: Buffer, from: number, to: number): void;
  /** `reusable`: another request may be sent on this connection. */
  end(reusable: boolean): void;
};

export type ResponseReader = {
  /** @returns the problem of the response, if any */
  push(chunk: Buffer, length: number): string | undefined;
  /** The connection has ended, and with it a body of unknown length. */
  finish(): void;
  reset(): void;
};

type State = 'head' | 'size' | 'chunk' | 'chunk-end' | 'trailer' | 'length' | 'to-the-end' | 'done';

const CR = 13;
const NEWLINE = 10;
const SEMICOLON = 59;
const LONGEST_HEAD = 1 << 16;

type Parser = {
  readonly sink: ResponseSink;
  state: State;
  /** The start of a head or line whose end has not arrived. */
  text: string;
  /** Bytes until the end of the chunk or the body. */
  left: number;
  inExtension: boolean;
  reusable: boolean;
};

export const createResponseReader = (sink: ResponseSink): ResponseReader => {
  const parser: Parser = { sink, state: 'head', text: '', left: 0, inExtension: false, reusable: true };
  return {
    push(chunk, length) {
      let at = 0;
      while (at < length) {
        const next = TAKE[parser.state](parser, chunk, at, length);
        if (typeof next === 'string') return next;
        at = next;
      }
      return undefined;
    },
    finish() {
      if (parser.state === 'to-the-end') end(parser);
    },
    reset() {
      parser.state = 'head';
      parser.text = '';
      parser.left = 0;
      parser.reusable = true;
    },
  };
};

/** Returns the position after the bytes that it has taken, or the problem of the response. */
type Take = (parser: Parser, chunk: Buffer, at: number, to: number) => number | string;

const end = (parser: Parser): void => {
  parser.state = 'done';
  parser.sink.end(parser.reusable);
};

const takeHead: Take = (parser, chunk, at, to) => {
  const before = parser.text.length;
  parser.text += chunk.toString('latin1', at, Math.min(to, at + LONGEST_HEAD));
  const close = parser.text.indexOf('\r\n\r\n', Math.max(0, before - 3));
  if (close < 0) return parser.text.length > LONGEST_HEAD ? 'a head without an end' : to;
  const head = parseHead(parser.text.slice(0, close));
  parser.text = '';
  if (!head) return 'not an HTTP/1.1 response';
  parser.reusable = head.keepAlive && head.body !== 'to-the-end';
  parser.left = head.length;
  parser.inExtension = false;
  parser.state = head.body;
  parser.sink.head(head.status);
  if (parser.state === 'length' && parser.left === 0) end(parser);
  return at + close + 4 - before;
};

const takeSize: Take = (parser, chunk, from, to) => {
  for (let at = from; at < to; at += 1) {
    const byte = chunk[at] ?? 0;
    if (byte === NEWLINE) {
      parser.state = parser.left === 0 ? 'trailer' : 'chunk';
      parser.inExtension = false;
      return at + 1;
    }
    if (byte === SEMICOLON) parser.inExtension = true;
    if (parser.inExtension || byte === CR) continue;
    const digit = hexDigit(byte);
    if (digit < 0) return 'a chunk without a size';
    parser.left = parser.left * 16 + digit;
  }
  return to;
};

const takeBody: Take = (parser, chunk, at, to) => {
  const until = Math.min(to, at + parser.left);
  parser.sink.body(chunk, at, until);
  parser.left -= until - at;
  if (parser.left > 0) return until;
  if (parser.state === 'chunk') parser.state = 'chunk-end';
  else end(parser);
  return until;
};

/** Reads through the next newline; of trailers, only the empty line that ends them matters. */
const takeLine: Take = (parser, chunk, from, to) => {
  const newline = chunk.indexOf(NEWLINE, from);
  if (newline < 0 || newline >= to) {
    parser.text += chunk.toString('latin1', from, to);
    return to;
  }
  const line = parser.text + chunk.toString('latin1', from, newline);
  parser.text = '';
  if (parser.state === 'chunk-end') parser.state = 'size';
  else if (line.trim() === '') end(parser);
  return newline + 1;
};

const takeAll: Take = ({ sink }, chunk, at, to) => {
  sink.body(chunk, at, to);
  return to;
};

const TAKE: Readonly<Record<State, Take>> = {
  head: takeHead,
  size: takeSize,
  chunk: takeBody,
  'chunk-end': takeLine,
  trailer: takeLine,
  length: takeBody,
  'to-the-end': takeAll,
  done: () => 'bytes after the end of the response',
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
