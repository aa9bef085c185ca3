import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import type { Test } from 'tap';
import type { EventReader, StreamEnd } from '../../../src/models/transport/stream.ts';
import type { Transport, TransportOptions } from '../../../src/models/transport/types.ts';
import { createTransport } from '../../../src/models/transport.ts';
import { createWatchdog } from '../../../src/models/watchdog.ts';

/** A transport that is closed at the end of the test. */
export const openTransport = (t: Test, options: TransportOptions = {}): Transport => {
  const transport = createTransport(options);
  t.teardown(() => transport.close());
  return transport;
};

export type RawServer = {
  url: string;
  port: number;
  server: Server;
  sockets: Set<Socket>;
  connections(): number;
};

/** Serves connections as raw bytes. `onRequest` is called for each complete request. */
export const startRawServer = async (
  t: Test,
  onRequest: (socket: Socket, nth: number) => void,
): Promise<RawServer> => {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    let nth = 0;
    let received = '';
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const head = received.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (head < 0 || received.length < head + 4 + length) return;
      received = received.slice(head + 4 + length);
      nth += 1;
      onRequest(socket, nth);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, server, sockets, connections: () => connections };
};

export type Seen = [name: string, data: string][];

/** Reports the end at `[DONE]`, and is finished after data that contains `finish`. */
export const recorder = (seen: Seen, more: Partial<EventReader> = {}): EventReader => {
  let finished = false;
  return {
    event(name, data) {
      seen.push([name, data]);
      finished ||= data.includes('finish');
      return data === '[DONE]';
    },
    isFinished: () => finished,
    ...more,
  };
};

export type Ask = {
  reader?: Partial<EventReader>;
  signal?: AbortSignal;
  seconds?: number;
  idle?: number;
  path?: string;
};

export const ask = async (
  transport: Transport,
  url: string,
  { reader = {}, signal = new AbortController().signal, seconds = 30, idle, path = '/v1/chat' }: Ask = {},
): Promise<{ end: StreamEnd; seen: Seen }> => {
  const seen: Seen = [];
  const watchdog = createWatchdog({ call: seconds, idle }, signal);
  try {
    const request = { url: `${url}${path}`, headers: {}, body: Buffer.from('{}') };
    return { end: await transport.stream(request, recorder(seen, reader), watchdog), seen };
  } finally {
    watchdog.close();
  }
};

/** One chunk of chunked transfer encoding. */
export const chunked = (body: string | Buffer): Buffer => {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
};

export const LAST_CHUNK = '0\r\n\r\n';

export const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

/** A whole response with these events, each in a separate chunk. */
export const response = (events: readonly string[], head = HEAD): Buffer =>
  Buffer.concat([Buffer.from(head), ...events.map(chunked), Buffer.from(LAST_CHUNK)]);
