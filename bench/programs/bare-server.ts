import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { UwsModule, UwsResponse } from '../../src/http/uws-module.ts';

/**
 * The minimum that can stream these frames: nothing is parsed, stored or joined. `/burst` writes all at once, each with
 * a separate `write`; `/corked` does so inside one cork, which joins them in the buffer of the library; `/turns` writes
 * one per event-loop tick; `/paced` one every 20 ms.
 */

const uws: UwsModule = createRequire(import.meta.url)('uWebSockets.js');

const frames: string[] = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));

type Stream = { res: UwsResponse; closed: boolean };

const burst = ({ res }: Stream): void => {
  for (const frame of frames) res.write(frame);
  res.end();
};

const oneByOne =
  (schedule: (turn: () => void) => unknown) =>
  (stream: Stream): void => {
    let at = 0;
    const turn = (): void => {
      if (stream.closed) return;
      const frame = frames[at];
      at += 1;
      if (frame === undefined) {
        stream.res.end();
        return;
      }
      stream.res.write(frame);
      schedule(turn);
    };
    schedule(turn);
  };

const paced = (stream: Stream): void => {
  const began = performance.now();
  let due = 0;
  oneByOne((turn) => {
    due += 20;
    setTimeout(turn, began + due - performance.now());
  })(stream);
};

const MODES: Record<string, (stream: Stream) => void> = {
  '/burst': (stream) => setImmediate(() => stream.closed || burst(stream)),
  '/corked': (stream) => setImmediate(() => stream.closed || stream.res.cork(() => burst(stream))),
  '/turns': oneByOne(setImmediate),
  '/paced': paced,
};

const app = uws.App();
for (const [path, play] of Object.entries(MODES)) {
  app.post(path, (res) => {
    const stream: Stream = { res, closed: false };
    res.onAborted(() => {
      stream.closed = true;
    });
    res.onData((_, isLast) => {
      if (!isLast) return;
      res.cork(() => {
        res.writeStatus('200 OK');
        res.writeHeader('content-type', 'text/event-stream');
        res.writeHeader('cache-control', 'no-cache');
      });
      play(stream);
    });
  });
}

app.listen('127.0.0.1', 0, 0, (socket) => {
  if (!socket) throw new Error('no port to listen on');
  process.stdout.write(`listens on http://127.0.0.1:${uws.us_socket_local_port(socket)}\n`);
});
process.on('disconnect', () => process.exit());
