import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import t, { type Test } from 'tap';
import { z } from 'zod';
import type { BodyStream } from '../../src/http/body-stream.ts';
import { textReply } from '../../src/http/reply.ts';
import { route } from '../../src/http/route.ts';
import { createEventStream, type EventStream } from '../../src/http/sse.ts';
import { get, type ServeOptions, settle, turn, type Wire, when, wire } from '../http/serve.ts';
import { peerOf, startEntry, startOwner } from './fronts.ts';

/** Streams and long bodies that pass through a member that does not serve. */

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

const MB = 1024 * 1024;

const start = async (t: Test, options: ServeOptions = {}) => {
  const streams: EventStream[] = [];
  const uploads: { bytes: number; digest: string; end: string; paused?: Promise<void> }[] = [];
  let waiting: Promise<void> | undefined;
  const routes = [
    route.get('/events', {
      id: 'getEvents',
      ...base,
      responses: { 200: 'text/event-stream' },
      handle() {
        const stream = createEventStream();
        streams.push(stream);
        return stream;
      },
    }),
    route.get('/download/:mb', {
      id: 'getDownload',
      ...base,
      params: z.object({ mb: z.coerce.number() }),
      responses: { 200: 'bytes' },
      handle: ({ params }) => textReply({ pieces: piecesOf(params.mb) }, 'application/octet-stream'),
    }),
    route.post('/uploads', {
      id: 'postUpload',
      ...base,
      body: z.unknown(),
      reads: 'stream',
      async handle({ body }) {
        // `body` is a stream because the route reads one.
        const stream = body as BodyStream;
        const hash = createHash('sha256');
        const upload = { bytes: 0, digest: '', end: '' };
        uploads.push(upload);
        try {
          for await (const chunk of stream.chunks()) {
            upload.bytes += chunk.byteLength;
            hash.update(chunk);
            await waiting;
          }
        } catch (error) {
          upload.end = 'failed';
          throw error;
        }
        upload.end = 'complete';
        upload.digest = hash.digest('hex');
        return upload;
      },
    }),
  ];
  const owner = await startOwner(t, 'owner', routes, options);
  const entry = await startEntry(t, 'entry');
  entry.known.active = peerOf(owner);
  return {
    ...{ owner, entry, streams, uploads },
    /** Lets no upload read on until the returned function is called. */
    hold(): () => void {
      let release = (): void => {};
      waiting = new Promise((resolve) => {
        release = resolve;
      });
      return () => {
        waiting = undefined;
        release();
      };
    },
  };
};

const PIECE = Buffer.alloc(64 * 1024, 'ab');

function* piecesOf(mb: number): Generator<Uint8Array> {
  for (let sent = 0; sent < mb * MB; sent += PIECE.length) yield PIECE;
}

const open = async (t: Test, port: number, streams: EventStream[]) => {
  const count = streams.length;
  const client = wire(t, port, get('/events'));
  await client.until(':\n\n');
  const stream = streams[count];
  if (!stream) throw new Error('no stream');
  return { client, stream };
};

/** The body of a response in chunks, without their lengths. */
const bodyIn = (client: Wire): string => {
  const [, ...rest] = client.text().split('\r\n\r\n');
  let [text, body] = [rest.join('\r\n\r\n'), ''];
  for (;;) {
    const [, length = '0', from = ''] = /^([\da-f]+)\r\n([\s\S]*)$/.exec(text) ?? [];
    const size = Number.parseInt(length, 16);
    if (size === 0) return body;
    body += from.slice(0, size);
    text = from.slice(size + 2);
  }
};

t.test('forwards event streams byte for byte, heartbeats included', async (t) => {
  const { owner, entry, streams } = await start(t, { settings: { sse_heartbeat_ms: 20 } });
  const direct = await open(t, owner.port, streams);
  const forwarded = await open(t, entry.port, streams);
  t.equal(entry.streams(), 1);

  const frames = ['café 🎭', '\u0000', 'x'.repeat(100_000), '\r\n', 'last'];
  for (const text of frames) {
    for (const { stream } of [direct, forwarded]) stream.write(`data: ${JSON.stringify(text)}\n\n`);
    await turn();
  }
  await when(() => [direct, forwarded].every(({ client }) => bodyIn(client).endsWith(': heartbeat\n\n')));
  for (const { stream } of [direct, forwarded]) stream.end();
  for (const { client } of [direct, forwarded]) await client.until('0\r\n\r\n');

  const heartbeats = /: heartbeat\n\n/g;
  t.match(bodyIn(forwarded.client), heartbeats);
  t.equal(bodyIn(forwarded.client).replace(heartbeats, ''), bodyIn(direct.client).replace(heartbeats, ''));
  await when(() => entry.streams() === 0 && owner.served.inFlight() === 0);
});

t.test('frees the stream of the active member when its client disconnects', async (t) => {
  const { owner, entry, streams } = await start(t);
  const { client, stream } = await open(t, entry.port, streams);
  t.notOk(stream.closed);
  client.socket.destroy();
  await when(() => stream.closed && owner.served.streams() === 0);
  t.equal(entry.streams(), 0);
});

t.test('cuts clients off when the active member cuts their streams', async (t) => {
  const { owner, entry, streams } = await start(t);
  const clients = [await open(t, entry.port, streams), await open(t, entry.port, streams)];
  owner.served.server.suspend();
  for (const { client } of clients) t.notMatch(await client.end(), /0\r\n\r\n$/, 'no end');
});

t.test('cuts what is forwarded when this member demands it', async (t) => {
  const { entry, streams } = await start(t);
  const { client, stream } = await open(t, entry.port, streams);
  entry.front.cut();
  t.notMatch(await client.end(), /0\r\n\r\n$/, 'no end');
  await when(() => stream.closed);

  const again = await open(t, entry.port, streams);
  t.notOk(again.client.closed());
});

t.test('waits for responses before an end, but not for streams', async (t) => {
  const { entry, streams, uploads } = await start(t);
  await entry.front.answered();
  const { client } = await open(t, entry.port, streams);
  const upload = request(`${entry.url}/uploads`, { method: 'POST' });
  const answered = once(upload, 'response');
  upload.write(Buffer.alloc(MB));
  await when(() => uploads.length === 1);
  let isAnswered = false;
  const last = entry.front.answered().then(() => {
    isAnswered = true;
  });
  await settle();
  t.notOk(isAnswered, 'an upload has no response yet');
  upload.end();
  const [response] = await answered;
  response.resume();
  await last;
  t.notOk(client.closed());
});

t.test('slows the active member down for a slow reader, and for no other', async (t) => {
  const { owner, entry, streams } = await start(t, { settings: { sse_buffer_size: 10 } });
  const slow = await open(t, entry.port, streams);
  const fast = await open(t, entry.port, streams);
  slow.client.socket.pause();
  const frame = `data: ${'x'.repeat(64_000)}\n\n`;
  let frames = 0;
  while (!slow.stream.stalled) {
    slow.stream.write(frame);
    fast.stream.write('data: next\n\n');
    frames += 1;
    await turn();
  }
  t.ok(frames < 1000, 'sockets hold some megabytes');
  await when(() => (fast.client.text().match(/next/g) ?? []).length === frames);

  for (let beyond = 0; !slow.stream.closed; beyond += 1) {
    slow.stream.write(frame);
    await turn();
    if (beyond > 1000) throw new Error('not cut off');
  }
  slow.client.socket.resume();
  t.notMatch(await slow.client.end(), /0\r\n\r\n$/, 'no end');
  t.equal(owner.served.streams(), 1);
});

const memory = (): number => {
  const { rss } = process.memoryUsage();
  return rss / MB;
};

t.test('forwards a download of any size to a slow reader within bounded memory', async (t) => {
  const { entry } = await start(t);
  const client = request(`${entry.url}/download/200`, { agent: false });
  client.end();
  const [response] = await once(client, 'response');
  let bytes = 0;
  let most = 0;
  const before = memory();
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes % (4 * MB) < chunk.length) {
      await turn();
      most = Math.max(most, memory() - before);
    }
  }
  t.equal(bytes, 200 * MB);
  t.ok(most < 100, `${most} MB`);
});

t.test('releases a response whose client disconnects while it takes nothing', async (t) => {
  const { owner, entry } = await start(t);
  for (const mb of [1, 2, 4, 50]) {
    const client = wire(t, entry.port, get(`/download/${mb}`));
    await client.until('\r\n\r\n');
    client.socket.pause();
    for (let wait = 0; wait < 10; wait += 1) await settle();
    client.socket.destroy();
    await when(() => owner.served.inFlight() === 0 && owner.served.unsent() === 0);
  }
  t.equal((await (await fetch(`${entry.url}/download/1`)).arrayBuffer()).byteLength, MB);
});

t.test('forwards an upload of any size to a slow handler within bounded memory', async (t) => {
  const { entry, uploads, hold } = await start(t);
  const release = hold();
  const client = request(`${entry.url}/uploads`, {
    agent: false,
    method: 'POST',
    headers: { 'content-length': 200 * MB },
  });
  const answered = once(client, 'response');
  const block = Buffer.alloc(MB, 'é🎭');
  const hash = createHash('sha256');
  const before = memory();
  let sent = 0;
  let most = 0;
  const send = async (): Promise<void> => {
    for (; sent < 200; sent += 1) {
      hash.update(block);
      if (!client.write(block)) await once(client, 'drain');
      most = Math.max(most, memory() - before);
    }
    client.end();
  };
  const sending = send();
  let seen = -1;
  while (seen !== sent) {
    seen = sent;
    for (let wait = 0; wait < 20; wait += 1) await settle();
  }
  t.ok(sent < 100, `the client is read no further than what is taken: ${sent} MB`);
  release();
  await sending;
  const [response] = await answered;
  t.equal(response.statusCode, 200);
  response.resume();
  t.match(uploads, [{ bytes: 200 * MB, digest: hash.digest('hex'), end: 'complete' }]);
  t.ok(most < 150, `${most} MB`);
});

t.test('ends the upload at the active member when its client disconnects', async (t) => {
  const { entry, uploads } = await start(t);
  const client = wire(
    t,
    entry.port,
    `POST /uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(200_000)}`,
  );
  await when(() => (uploads[0]?.bytes ?? 0) > 0);
  client.socket.destroy();
  await when(() => uploads[0]?.end === 'failed');
  t.equal(uploads.length, 1);
});
