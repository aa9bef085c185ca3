import { connect } from 'node:net';
import { createFrames } from '../src/load-generator/frames.ts';
import { createResponseReader } from '../src/load-generator/response.ts';
import { BenchError } from './error.ts';
import type { Server } from './servers.ts';
import { usageFrom } from './usage.ts';

/** Clients that reconnect, each on a new connection with the id of its last event. */

export type Resume = {
  path: string;
  lastEventId: string;
  /** Number of missed events, after which the client disconnects. */
  events: number;
};

const PATIENCE_MS = 30_000;

/** Shared by all clients: each chunk is counted before the next one is read. */
const buffer = Buffer.allocUnsafeSlow(1 << 16);

/** @returns milliseconds from the connection to the last event */
const resume = ({ name, url }: Server, { path, lastEventId, events }: Resume): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    const { hostname, port, host } = new URL(url);
    const frames = createFrames({ first: 'data', terminal: 'data' });
    let came = 0;
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer, callback: (length) => received(length) },
    });
    const fail = (reason: string): void => {
      socket.destroy();
      reject(new BenchError(`${name}: a resume of ${path} ${reason} after ${came} of ${events} events`));
    };
    const reader = createResponseReader({
      head: (status) => {
        if (status !== 200) fail(`got status ${status}`);
      },
      body: (piece, from, to) => {
        came += frames.push(piece, from, to);
      },
      end: () => {},
    });
    const received = (length: number): boolean => {
      const fault = reader.push(buffer, length);
      frames.settle();
      if (fault !== undefined) fail(fault);
      if (came < events) return true;
      socket.destroy();
      if (came > events) fail('was given more');
      else resolve(performance.now() - began);
      return false;
    };
    socket.setTimeout(PATIENCE_MS, () => fail(`was silent for ${PATIENCE_MS / 1000} s`));
    socket.on('error', (error) => fail(`failed: ${error.message}`));
    socket.on('end', () => fail('ended'));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nlast-event-id: ${lastEventId}\r\n\r\n`);
  });

export type Resumed = { milliseconds: number[]; rate: number; cost: number; granted: number };

/** Reconnects clients repeatedly, each to its own stream. @throws BenchError */
export const playResumes = async (
  server: Server,
  resumes: readonly Resume[],
  duration_ms: number,
): Promise<Resumed> => {
  const milliseconds: number[] = [];
  const used = usageFrom(server.process.pid);
  const until = performance.now() + duration_ms;
  const client = async (which: Resume): Promise<void> => {
    do milliseconds.push(await resume(server, which));
    while (performance.now() < until);
  };
  await Promise.all(resumes.map(client));
  const { processor, elapsed, granted } = used();
  const count = milliseconds.length;
  return { milliseconds, rate: (count * 1000) / elapsed, cost: processor / count, granted };
};
