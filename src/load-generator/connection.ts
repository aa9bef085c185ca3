import { connect, type Socket } from 'node:net';
import { createFrames, type Frames } from './frames.ts';
import type { Load } from './options.ts';
import { REFUSAL_BYTES, reasonIn } from './refusal.ts';
import { createResponseReader, type ResponseReader } from './response.ts';

/**
 * One keep-alive connection that reads one stream at a time.
 *
 * Guarantees: each stream taken is reported once, as ended or as failed; a lost connection is reopened, and a
 * connection that cannot be opened three times in a row is abandoned. All connections of a process read into one
 * buffer: each chunk is counted before the next one is read. A stream has no timer: the owner calls `expire`
 * periodically.
 */
export type Failure =
  | 'connection failed'
  | 'connection lost'
  | 'timeout'
  | 'no terminal frame'
  | 'malformed response'
  | `status ${number}`
  /** with the error message of the server */
  | `status ${number}: ${string}`;

export type Ended = {
  stream: number;
  started: number;
  first: number | undefined;
  ended: number;
  events: number;
};

/** `came`: time of arrival, if earlier than now. */
export type Taken = { stream: number; came?: number };

export type ConnectionOwner = {
  /** The next stream; 'later' if the owner will call `open` for it; undefined if none is left. */
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

export const resolveTarget = (load: Load): Target => {
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

type Client = {
  readonly load: Load;
  readonly target: Target;
  readonly owner: ConnectionOwner;
  readonly frames: Frames;
  readonly reader: ResponseReader;
  readonly connection: Connection;
  socket: Socket | undefined;
  /** Failed attempts to connect, in a row. */
  attempts: number;
  stream: number | undefined;
  status: number;
  started: number;
  came: number | undefined;
  first: number | undefined;
  events: number;
  /** Events that are not counted yet, because the time of their chunk is not known. */
  arrived: number;
  /** The start of the body of a response that is not a stream. */
  refusal: string;
  pause: NodeJS.Timeout | undefined;
  closed: boolean;
};

export const createConnection = (load: Load, target: Target, owner: ConnectionOwner): Connection => {
  const client: Client = {
    load,
    target,
    owner,
    frames: createFrames(load),
    reader: createResponseReader({
      head: (status) => {
        client.status = status;
        client.refusal = '';
      },
      body: (chunk, from, to) => readBody(client, chunk, from, to),
      end: (reusable) => endResponse(client, reusable),
    }),
    connection: {
      open: () => next(client),
      expire(now) {
        const isLate = client.stream !== undefined && now - client.started > load.stream_timeout_ms;
        if (isLate) fail(client, 'timeout', false);
      },
      close: () => finish(client),
    },
    socket: undefined,
    attempts: 0,
    stream: undefined,
    status: 0,
    started: 0,
    came: undefined,
    first: undefined,
    events: 0,
    arrived: 0,
    refusal: '',
    pause: undefined,
    closed: false,
  };
  return client.connection;
};

const next = (client: Client): void => {
  if (client.closed || client.stream !== undefined) return;
  const taken = client.owner.take(client.connection);
  if (taken === 'later') return;
  if (taken === undefined) {
    finish(client);
    return;
  }
  client.stream = taken.stream;
  client.came = taken.came;
  client.started = client.came ?? performance.now();
  if (client.socket) send(client);
  else dial(client);
};

const dial = (client: Client): void => {
  const { host, port } = client.target;
  const opened: Socket = connect({
    host,
    port,
    noDelay: true,
    onread: {
      buffer: sharedBuffer,
      callback: (length) => {
        if (client.socket === opened) receive(client, length);
        return true;
      },
    },
  });
  client.socket = opened;
  opened.on('connect', () => {
    client.attempts = 0;
    if (client.socket === opened) send(client);
  });
  opened.on('error', () => {});
  opened.on('close', () => {
    if (client.socket === opened) lose(client, opened.bytesWritten > 0);
  });
};

const send = (client: Client): void => {
  const { load, target, reader, frames } = client;
  reader.reset();
  frames.reset();
  client.first = undefined;
  client.events = 0;
  client.started = client.came ?? performance.now();
  const body = load.body(client.stream ?? 0);
  client.socket?.write(`${target.head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
};

const receive = (client: Client, length: number): void => {
  client.owner.bytes(length);
  const fault = client.reader.push(sharedBuffer, length);
  if (fault === undefined) {
    client.frames.settle();
    count(client, performance.now());
  } else if (client.stream !== undefined) {
    fail(client, 'malformed response', false);
  } else drop(client);
};

const readBody = (client: Client, chunk: Buffer, from: number, to: number): void => {
  if (client.status === 200) {
    client.load.onBytes?.(chunk, from, to);
    client.arrived += client.frames.push(chunk, from, to);
  } else if (client.refusal.length < REFUSAL_BYTES) client.refusal += chunk.toString('utf8', from, to);
};

const count = (client: Client, now: number): void => {
  const { arrived, stream, load, frames } = client;
  if (arrived === 0) return;
  if (client.first === undefined && frames.sawFirst) client.first = now;
  client.events += arrived;
  if (stream !== undefined) load.onEvents?.(stream, arrived, now);
  client.arrived = 0;
};

const endResponse = (client: Client, reusable: boolean): void => {
  const { stream, status, frames } = client;
  if (stream === undefined) return;
  frames.settle();
  const ended = performance.now();
  count(client, ended);
  if (status !== 200) fail(client, refused(status, client.refusal), reusable);
  else if (!frames.atTerminal) fail(client, 'no terminal frame', reusable);
  else {
    const { owner, load, started, first, events } = client;
    owner.ended({ stream, started, first, ended, events });
    client.stream = undefined;
    if (!reusable) drop(client);
    if (load.pause_ms === 0) next(client);
    else client.pause = setTimeout(next, load.pause_ms, client);
  }
};

const fail = (client: Client, kind: Failure, reusable: boolean): void => {
  client.stream = undefined;
  client.owner.failed(kind);
  if (!reusable) drop(client);
  // The pause avoids a busy loop on a server that rejects requests at once.
  client.pause = setTimeout(next, PAUSE_AFTER_FAILURE_MS, client);
};

const lose = (client: Client, wasOpen: boolean): void => {
  client.socket = undefined;
  const before = client.stream;
  client.reader.finish();
  if (before === undefined || client.stream !== before) return;
  if (!wasOpen) client.attempts += 1;
  fail(client, wasOpen ? 'connection lost' : 'connection failed', false);
  if (client.attempts >= ATTEMPTS) finish(client);
};

const finish = (client: Client): void => {
  if (client.closed) return;
  client.closed = true;
  clearTimeout(client.pause);
  drop(client);
  client.owner.finished();
};

const drop = (client: Client): void => {
  client.socket?.destroy();
  client.socket = undefined;
};
