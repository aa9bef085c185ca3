import type { Hmac } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { WireResponse } from '../http/wire.ts';

/**
 * The body of a request that is being forwarded.
 *
 * Guarantees: the first `KEPT_BYTES` are collected before anything is sent, so a short body occupies no connection to
 * another member until it is complete. They can be sent again. Beyond them, the client is read only as fast as the
 * upstream takes the bytes, and at most one chunk is waiting.
 */
export type ClientBody = {
  /** Sends the body from its beginning, followed by its signature, and ends the upstream. */
  sendTo(upstream: Writable, signature: Hmac): void;
  /** Sends no more to the upstream, and reads no more from the client. */
  stop(): void;
  /** Passes the body from its beginning to the listener that the answer sets. */
  handOver(answer: (res: WireResponse) => void): void;
  /** Whether the whole body can still be sent from its beginning. */
  canRestart(): boolean;
  /** Resumes the client, and discards what it sends from now on. Called before the response ends. */
  discard(): void;
  /** The client has disconnected: nothing is read or resumed any longer. */
  close(): void;
  isComplete(): boolean;
};

export const KEPT_BYTES = 64 * 1024;

type State = {
  readonly res: WireResponse;
  /** The body so far; undefined once more than `KEPT_BYTES` have been sent. */
  kept: Buffer[] | undefined;
  bytes: number;
  isComplete: boolean;
  isPaused: boolean;
  isClosed: boolean;
  /** Receives the chunks after the kept ones. */
  take: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;
};

/**
 * Called in the callback of the request, because uWebSockets.js offers the body only then.
 *
 * @param ready called when the body is complete or `KEPT_BYTES` have arrived
 */
export const openClientBody = (res: WireResponse, ready: () => void): ClientBody => {
  const body: State = {
    res,
    kept: [],
    bytes: 0,
    isComplete: false,
    isPaused: false,
    isClosed: false,
    take: undefined,
  };
  let isReady = false;
  res.onData((chunk, isLast) => {
    if (body.isComplete) return;
    body.isComplete = isLast;
    if (body.take) {
      body.take(chunk, isLast);
      return;
    }
    keep(body, chunk);
    const isEnough = isLast || body.bytes >= KEPT_BYTES;
    if (!isEnough) return;
    pause(body);
    if (isReady) return;
    isReady = true;
    ready();
  });
  return {
    sendTo: (upstream, signature) => sendTo(body, upstream, signature),
    stop() {
      body.take = undefined;
      pause(body);
    },
    handOver: (answer) => handOver(body, answer),
    canRestart: () => body.kept !== undefined,
    discard() {
      body.take = () => {};
      body.kept = undefined;
      resume(body);
    },
    close() {
      body.isClosed = true;
    },
    isComplete: () => body.isComplete,
  };
};

/** Copies the chunk, which is valid only during its callback. */
const keep = (body: State, chunk: ArrayBuffer): Buffer => {
  const copy = Buffer.from(chunk.slice(0));
  body.bytes += copy.byteLength;
  body.kept?.push(copy);
  return copy;
};

const sendTo = (body: State, upstream: Writable, signature: Hmac): void => {
  const write = (chunk: Buffer, isLast: boolean): void => {
    signature.update(chunk);
    const isTaken = chunk.byteLength === 0 || upstream.write(chunk);
    if (isLast) upstream.end(signature.digest());
    else if (isTaken) resume(body);
    else pause(body);
  };
  body.take = (chunk, isLast) => {
    const copy = keep(body, chunk);
    if (body.bytes > KEPT_BYTES) body.kept = undefined;
    write(copy, isLast);
  };
  upstream.on('drain', () => {
    if (!body.isComplete) resume(body);
  });
  const chunks = body.kept ?? [];
  for (const [index, chunk] of chunks.entries()) {
    write(chunk, body.isComplete && index === chunks.length - 1);
  }
};

const handOver = (body: State, answer: (res: WireResponse) => void): void => {
  const { res, kept = [], isComplete } = body;
  let listener = (_chunk: ArrayBuffer, _isLast: boolean): void => {};
  res.onData = (next) => {
    listener = next;
  };
  // Before the answer, after which the response may have ended. No chunk arrives until this function returns.
  resume(body);
  res.cork(() => answer(res));
  body.take = (chunk, isLast) => listener(chunk, isLast);
  body.kept = undefined;
  for (const [index, chunk] of kept.entries()) {
    listener(new Uint8Array(chunk).buffer, isComplete && index === kept.length - 1);
  }
};

const pause = (body: State): void => {
  if (body.isPaused || body.isComplete || body.isClosed) return;
  body.isPaused = true;
  body.res.pause();
};

const resume = (body: State): void => {
  if (!body.isPaused || body.isClosed) return;
  body.isPaused = false;
  body.res.resume();
};
