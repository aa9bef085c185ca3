import type { IncomingMessage } from 'node:http';
import type { WireResponse } from '../http/wire.ts';
import { returnedHeaders } from './hops.ts';

/**
 * Sends the response of another member to the client, as it comes.
 *
 * Guarantees: status, headers and bytes are those of the other member. The chunks of one read are written at once, and the
 * other member is read only as fast as the client takes the bytes. A response that is cut off is cut off for the client
 * as well, so the client does not mistake it for a complete one.
 * Relies on the other member to send the length of short bodies only: longer ones are sent without a length.
 */
export type Relay = {
  /** Whether the client has received a part of the response. */
  hasBegun(): boolean;
  /** Sends no more to the client, which may have disconnected. */
  stop(): void;
};

type State = {
  readonly res: WireResponse;
  readonly message: IncomingMessage;
  readonly isShort: boolean;
  chunks: Buffer[];
  hasBegun: boolean;
  isScheduled: boolean;
  isOver: boolean;
};

type RelayEvents = {
  /** Called in the write that ends the response; nothing is written afterwards. */
  ended(): void;
  /** Called when the other member has cut the response off. */
  cut(): void;
};

/** A body of a declared length up to this one is collected, and sent with its length. */
const SHORT_BYTES = 256 * 1024;

/** @param closes whether the connection of the client is closed after the response */
export const relay = (
  res: WireResponse,
  message: IncomingMessage,
  { method, closes, ended, cut }: RelayEvents & { method: string; closes(): boolean },
): Relay => {
  const length = Number(message.headers['content-length'] ?? Number.NaN);
  const state: State = {
    res,
    message,
    isShort: length <= SHORT_BYTES,
    chunks: [],
    hasBegun: false,
    isScheduled: false,
    isOver: false,
  };
  const finish = (): void => {
    if (state.isOver) return;
    state.isOver = true;
    ended();
    res.cork(() => end(state, { method, length, closes: closes() }));
  };
  message.on('data', (chunk: Buffer) => {
    if (state.isOver) return;
    state.chunks.push(chunk);
    schedule(state);
  });
  message.on('end', finish);
  message.on('error', () => {});
  message.on('close', () => {
    if (state.isOver) return;
    state.isOver = true;
    cut();
  });
  if (!state.isShort) {
    res.onWritable(() => {
      if (!state.isOver) message.resume();
      return true;
    });
  }
  return {
    hasBegun: () => state.hasBegun,
    stop() {
      state.isOver = true;
    },
  };
};

/** The parser reports all chunks of one read before the next microtask. */
const schedule = (state: State): void => {
  if (state.isShort || state.isScheduled) return;
  state.isScheduled = true;
  queueMicrotask(() => {
    state.isScheduled = false;
    if (state.isOver) return;
    let isTaken = true;
    state.res.cork(() => {
      isTaken = write(state);
    });
    if (!isTaken) state.message.pause();
  });
};

/** Returns whether the client accepts more data. */
const write = (state: State): boolean => {
  const bytes = takeChunks(state);
  begin(state);
  return bytes.byteLength === 0 || state.res.write(bytes);
};

const end = (
  state: State,
  { method, length, closes }: { method: string; length: number; closes: boolean },
): void => {
  const { res, message, isShort } = state;
  if (isBodiless(method, message)) {
    begin(state);
    if (closes) res.writeHeader('connection', 'close');
    if (method === 'HEAD' && length >= 0) res.writeHeader('content-length', String(length));
    res.endWithoutBody();
  } else if (isShort) {
    begin(state);
    res.end(takeChunks(state), closes);
  } else {
    write(state);
    res.end();
  }
};

const isBodiless = (method: string, { statusCode }: IncomingMessage): boolean =>
  method === 'HEAD' || statusCode === 204 || statusCode === 304;

const begin = (state: State): void => {
  if (state.hasBegun) return;
  const { res, message } = state;
  state.hasBegun = true;
  res.writeStatus(`${message.statusCode} ${message.statusMessage}`);
  // `node:http` reads the bytes of a value as Latin-1.
  for (const [name, value] of returnedHeaders(message.rawHeaders)) {
    res.writeHeader(name, ASCII.test(value) ? value : Buffer.from(value, 'latin1'));
  }
};

const ASCII = /^[\0-\x7f]*$/;

const takeChunks = (state: State): Buffer => {
  const [first = EMPTY, ...others] = state.chunks;
  const bytes = others.length === 0 ? first : Buffer.concat(state.chunks);
  state.chunks = [];
  return bytes;
};

const EMPTY = Buffer.alloc(0);
