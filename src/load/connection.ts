import { connect, type Socket } from 'node:net';
import { createFrames } from './frames.ts';
import type { Load } from './options.ts';
import { REFUSAL_BYTES, reasonIn } from './refusal.ts';
import { createResponseReader } from './response.ts';

/**
 * One kept-alive connection that reads one stream after the other.
 *
 * Guarantees: each stream that was taken is told once, as ended or as failed; a connection that is lost is
 * opened again, and one that cannot be opened three times in a row gives up. All connections of a process read
 * into one buffer: what a piece holds is counted before the next one is read. A stream has no timer: the owner
 * calls `expire` now and then.
 */
export type Failure =
  | 'connection failed'
  | 'connection lost'
  | 'timeout'
  | 'no terminal frame'
  | 'malformed response'
  | `status ${number}`
  /** with what the server says of it */
  | `status ${number}: ${string}`;

export type Ended = {
  stream: number;
  started: number;
  first: number | undefined;
  ended: number;
  events: number;
};

/** `came`: when it was asked for, if not just now. */
export type Taken = { stream: number; came?: number };

export type ConnectionOwner = {
  /** The next stream; 'later' when the owner opens the connection again for it; undefined when none is left. */
  take(connection: Connection): Taken | 'later' | undefined;
  ended(stream: Ended): void;
  failed(kind: Failure): void;
  bytes(count: number): void;
  /** The connection takes no more streams. */
  finished(): void;
};

export type Connection = { open(): void; expire(now: number): void; close(): void };

type Target = { host: string; port: number; head: string };

const ATTEMPTS = 3;
const PAUSE_AFTER_FAILURE_MS = 50;

const sharedBuffer = Buffer.allocUnsafeSlow(1 << 16);

export const targetOf = (load: Load): Target => {
  const { hostname, port, host, pathname, search } = new URL(load.url);
  const headers = { host, 'content-type': 'application/json', accept: 'text/event-stream', ...load.headers };
  const path = pathname === '/' ? '/v1/runs' : pathname;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 80 : Number(port),
    head: `POST ${path}${search} HTTP/1.1\r\n${lines.join('')}`,
  };
};

const refused = (status: number, body: string): Failure => {
  const reason = reasonIn(body);
  return reason === '' ? `status ${status}` : `status ${status}: ${reason}`;
};

export const createConnection = (load: Load, target: Target, owner: ConnectionOwner): Connection => {
  const frames = createFrames(load);
  let socket: Socket | undefined;
  let attempts = 0;
  let stream: number | undefined;
  let status = 0;
  let started = 0;
  let came: number | undefined;
  let first: number | undefined;
  let events = 0;
  let arrived = 0;
  /** The beginning of the body of an answer that is no stream. */
  let refusal = '';
  let pause: NodeJS.Timeout | undefined;
  let closed = false;

  const reader = createResponseReader({
    head: (value) => {
      status = value;
      refusal = '';
    },
    body: (piece, from, to) => {
      if (status === 200) {
        load.onBytes?.(piece, from, to);
        arrived += frames.push(piece, from, to);
      } else if (refusal.length < REFUSAL_BYTES) refusal += piece.toString('utf8', from, to);
    },
    end: (reusable) => {
      if (stream === undefined) return;
      frames.settle();
      const ended = performance.now();
      count(ended);
      if (status !== 200) fail(refused(status, refusal), reusable);
      else if (!frames.atTerminal) fail('no terminal frame', reusable);
      else {
        owner.ended({ stream, started, first, ended, events });
        stream = undefined;
        if (!reusable) drop();
        if (load.pause_ms === 0) next();
        else pause = setTimeout(next, load.pause_ms);
      }
    },
  });

  const count = (now: number): void => {
    if (arrived === 0) return;
    if (first === undefined && frames.sawFirst) first = now;
    events += arrived;
    if (stream !== undefined) load.onEvents?.(stream, arrived, now);
    arrived = 0;
  };

  const fail = (kind: Failure, reusable: boolean): void => {
    stream = undefined;
    owner.failed(kind);
    if (!reusable) drop();
    // A server that refuses at once is not hammered.
    pause = setTimeout(next, PAUSE_AFTER_FAILURE_MS);
  };

  const drop = (): void => {
    socket?.destroy();
    socket = undefined;
  };

  const finish = (): void => {
    if (closed) return;
    closed = true;
    clearTimeout(pause);
    drop();
    owner.finished();
  };

  const next = (): void => {
    if (closed || stream !== undefined) return;
    const taken = owner.take(connection);
    if (taken === 'later') return;
    if (taken === undefined) {
      finish();
      return;
    }
    stream = taken.stream;
    came = taken.came;
    started = came ?? performance.now();
    if (socket) send();
    else dial();
  };

  const send = (): void => {
    reader.reset();
    frames.reset();
    first = undefined;
    events = 0;
    started = came ?? performance.now();
    const body = load.body(stream ?? 0);
    socket?.write(`${target.head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };

  const received = (length: number): void => {
    owner.bytes(length);
    const fault = reader.push(sharedBuffer, length);
    if (fault === undefined) {
      frames.settle();
      count(performance.now());
    } else if (stream !== undefined) {
      fail('malformed response', false);
    } else drop();
  };

  const dial = (): void => {
    const opened: Socket = connect({
      host: target.host,
      port: target.port,
      noDelay: true,
      onread: {
        buffer: sharedBuffer,
        callback: (length) => {
          if (socket === opened) received(length);
          return true;
        },
      },
    });
    socket = opened;
    opened.on('connect', () => {
      attempts = 0;
      if (socket === opened) send();
    });
    opened.on('error', () => {});
    opened.on('close', () => {
      if (socket === opened) lost(opened.bytesWritten > 0);
    });
  };

  const lost = (wasOpen: boolean): void => {
    socket = undefined;
    const before = stream;
    reader.finish();
    if (before === undefined || stream !== before) return;
    if (!wasOpen) attempts += 1;
    fail(wasOpen ? 'connection lost' : 'connection failed', false);
    if (attempts >= ATTEMPTS) finish();
  };

  const connection: Connection = {
    open: next,
    expire(now) {
      if (stream !== undefined && now - started > load.stream_timeout_ms) fail('timeout', false);
    },
    close: finish,
  };
  return connection;
};
