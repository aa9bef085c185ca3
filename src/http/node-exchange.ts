import type { IncomingMessage, ServerResponse } from 'node:http';
import { UNIX_PEER } from './listen-address.ts';
import { IDLE_MS } from './node-limits.ts';
import type { WireRequest, WireResponse } from './wire.ts';

/** Adapts requests and responses of `node:http` to the types of the pipeline. */

export const readNodeRequest = (req: IncomingMessage): WireRequest => {
  const url = decoded(req.url ?? '');
  const mark = url.indexOf('?');
  const { rawHeaders } = req;
  const names = rawHeaders.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : ''));
  return {
    getMethod: () => (req.method ?? '').toLowerCase(),
    getUrl: () => (mark < 0 ? url : url.slice(0, mark)),
    getQuery: () => (mark < 0 ? undefined : url.slice(mark + 1)),
    getHeader(name) {
      const index = names.indexOf(name);
      return index < 0 ? '' : decoded(rawHeaders[index + 1] ?? '');
    },
    forEach(listener) {
      for (let index = 0; index < rawHeaders.length; index += 2) {
        listener(names[index] ?? '', decoded(rawHeaders[index + 1] ?? ''));
      }
    },
  };
};

/** Node decodes heads as Latin-1, but their bytes are UTF-8. */
const decoded = (text: string): string => (ASCII.test(text) ? text : Buffer.from(text, 'latin1').toString());

const ASCII = /^[\0-\x7f]*$/;

export type NodeResponse = {
  readonly wire: WireResponse;
  /** Returns whether the response has neither ended nor been aborted. */
  isOpen(): boolean;
  /** Called when the connection has closed. */
  abort(): void;
};

type Listeners = {
  aborted: (() => void) | undefined;
  writable: ((offset: number) => boolean) | undefined;
};

export const openNodeResponse = (req: IncomingMessage, res: ServerResponse): NodeResponse => {
  const { socket } = req;
  const head: Head = { status: '200 OK', headers: [] };
  const listeners: Listeners = { aborted: undefined, writable: undefined };
  let isOpen = true;
  let isStalled = false;

  const abort = (): void => {
    if (!isOpen) return;
    isOpen = false;
    listeners.aborted?.();
  };

  const finish = (text: string | Uint8Array | undefined): void => {
    isOpen = false;
    res.end(text, 'latin1');
    // Node replaces this limit when the last byte has been taken.
    if (socket.writableLength > 0) socket.setTimeout(IDLE_MS);
  };

  const wire: WireResponse = {
    retains: true,
    onAborted(listener) {
      listeners.aborted = listener;
    },
    onData: (listener) => readBody(req, listener),
    pause: () => req.pause(),
    resume: () => req.resume(),
    onWritable(listener) {
      if (!listeners.writable) {
        res.on('drain', () => {
          if (!isStalled || !isOpen) return;
          isStalled = false;
          socket.setTimeout(0);
          listeners.writable?.(0);
        });
      }
      listeners.writable = listener;
    },
    writeStatus(status) {
      head.status = status;
    },
    writeHeader(name, value) {
      head.headers.push(name, typeof value === 'string' ? value : Buffer.from(value).toString('latin1'));
    },
    write(text) {
      if (!res.headersSent) sendHead(res, head);
      // Absent while the response before this one on the connection is being sent.
      const current = res.socket;
      current?.cork();
      const isTaken = res.write(text, 'latin1');
      current?.uncork();
      isStalled = !isTaken && current?.writableLength !== 0;
      if (isStalled) socket.setTimeout(IDLE_MS);
      return !isStalled;
    },
    end(text = '', closeConnection = false) {
      if (!res.headersSent) {
        head.headers.push('content-length', String(text.length));
        sendHead(res, head, closeConnection);
      }
      finish(text);
    },
    endWithoutBody() {
      sendHead(res, head);
      finish(undefined);
    },
    cork: (write) => write(),
    close() {
      socket.destroy();
      abort();
    },
    getRemoteAddressAsText: () => whole(Buffer.from(socket.remoteAddress ?? UNIX_PEER)),
  };
  return { wire, isOpen: () => isOpen, abort };
};

type Head = { status: string; headers: string[] };

const sendHead = (res: ServerResponse, { status, headers }: Head, closes = false): void => {
  if (closes) setClose(headers);
  res.writeHead(Number(status.slice(0, 3)), status.slice(4), headers);
};

/** Replaces the value that a stream sets. */
const setClose = (headers: string[]): void => {
  const index = headers.indexOf('connection');
  if (index < 0) headers.push('connection', 'close');
  else headers[index + 1] = 'close';
};

/** A body of known length ends with its last chunk, a body of unknown length with an empty chunk. */
const readBody = (req: IncomingMessage, listener: (chunk: ArrayBuffer, isLast: boolean) => void): void => {
  const { socket } = req;
  let left = Number(req.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  let isOver = false;
  const pass = (chunk: Buffer, isLast: boolean): void => {
    if (isOver) return;
    isOver = isLast;
    if (isLast) socket.setTimeout(0);
    const { buffer, byteLength } = chunk;
    // Node creates a buffer for each chunk, and its type does not exclude a shared one.
    const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength > 0;
    listener(isOwn ? buffer : whole(chunk), isLast);
    if (isOwn) free(buffer);
  };
  socket.setTimeout(IDLE_MS);
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    pass(chunk, left <= 0);
  });
  req.on('end', () => pass(EMPTY, true));
};

const EMPTY = Buffer.alloc(0);

const { port1: closedPort, port2: otherPort } = new MessageChannel();
closedPort.close();
otherPort.close();

/**
 * Releases the memory of a chunk at once: a message takes the buffers that it transfers, and a closed port drops it. The
 * chunks of a long body would otherwise occupy tens of megabytes until the next garbage collection.
 */
const free = (buffer: ArrayBuffer): void => closedPort.postMessage(null, [buffer]);

/** Copies the bytes to a buffer that contains nothing else. */
const whole = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;
