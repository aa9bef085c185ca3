import { connect } from 'node:net';
import { createFrames } from '../../src/load-generator/frames.ts';
import { createResponseReader } from '../../src/load-generator/response.ts';

/**
 * `event-readers URL`: opens and reads event streams. It responds to `open` once each stream has its head; to `finish`,
 * once each has read a terminal event, with the number of events since the last response. All sockets read into one
 * buffer, so that a thousand of them cost little.
 */

export type ReadersOrder = { open: number; path: string } | { finish: true };

/** `events`: total of all readers. */
export type ReadersAnswer = { open: number } | { events: number } | { failed: string };

const url = new URL(process.argv[2] ?? '');
const buffer = Buffer.allocUnsafeSlow(1 << 18);
const MARKS = { first: '"RunStarted"', terminal: '"event_kind":"RunFinished"' };

const events: number[] = [];
const finished = new Set<number>();
let failure = '';
let changed = (): void => {};

const open = (path: string): Promise<void> =>
  new Promise((resolve) => {
    const frames = createFrames(MARKS);
    const reader = events.push(0) - 1;
    const fail = (reason: string): void => {
      failure = reason;
      resolve();
      changed();
    };
    const response = createResponseReader({
      head: (status) => (status === 200 ? resolve() : fail(`status ${status}`)),
      body(piece, from, to) {
        const came = frames.push(piece, from, to);
        if (came === 0) return;
        events[reader] = (events[reader] ?? 0) + came;
        frames.settle();
        if (frames.atTerminal) finished.add(reader);
      },
      end: () => fail('a stream has ended'),
    });
    const received = (length: number): boolean => {
      const fault = response.push(buffer, length);
      frames.settle();
      if (fault !== undefined) fail(fault);
      changed();
      return true;
    };
    const socket = connect({
      host: url.hostname,
      port: Number(url.port),
      onread: { buffer, callback: received },
    });
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => fail('a stream was closed'));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${url.host}\r\n\r\n`);
  });

const AT_A_TIME = 100;

const openAll = async (count: number, path: string): Promise<void> => {
  let left = count;
  const opener = async (): Promise<void> => {
    while (left > 0 && failure === '') {
      left -= 1;
      await open(path);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, opener));
};

const allFinished = (): Promise<void> =>
  new Promise((resolve) => {
    changed = () => {
      if (failure !== '' || finished.size === events.length) resolve();
    };
    changed();
  });

const answerTo = async (order: ReadersOrder): Promise<ReadersAnswer> => {
  if ('open' in order) await openAll(order.open, order.path);
  else await allFinished();
  if (failure !== '') return { failed: failure };
  if ('open' in order) return { open: events.length };
  const [least, most] = [Math.min(...events), Math.max(...events)];
  if (least !== most) return { failed: `one reader had ${least} events, another ${most}` };
  const total = events.reduce((sum, count) => sum + count, 0);
  events.fill(0);
  finished.clear();
  return { events: total };
};

process.on('message', async (order: ReadersOrder) => process.send?.(await answerTo(order)));
process.on('disconnect', () => process.exit());
