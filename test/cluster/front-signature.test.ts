import fc from 'fast-check';
import t, { type Test } from 'tap';
import { z } from 'zod';
import '../random.ts';
import { createSignatures, TAIL_BYTES, type Unsigned } from '../../src/cluster/signature.ts';
import type { BodyStream } from '../../src/http/body-stream.ts';
import { route } from '../../src/http/route.ts';
import { when, wire } from '../http/serve.ts';
import { SECRET, startEntry, startOwner, startPair, type TestMember } from './fronts.ts';

/** Requests that name a member as their sender (cluster.md 8.3, check 58). */

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

const startCounting = async (t: Test) => {
  const effects: string[] = [];
  const uploads: { bytes: number; end: string }[] = [];
  const owner = await startOwner(
    t,
    'owner',
    [
      route.get('/effects', {
        id: 'getEffects',
        ...base,
        handle: ({ header }) => effects.push(`get ${header('x-troupe-member') ?? 'unsigned'}`),
      }),
      route.post('/effects', {
        id: 'postEffects',
        ...base,
        body: z.object({ text: z.string() }),
        handle: ({ body }) => effects.push(body.text),
      }),
      route.post('/uploads', {
        id: 'postUpload',
        ...base,
        needs: 'read',
        body: z.unknown(),
        reads: 'stream',
        async handle({ body }) {
          // `body` is a stream because the route reads one.
          const stream = body as BodyStream;
          const upload = { bytes: 0, end: '' };
          uploads.push(upload);
          try {
            for await (const chunk of stream.chunks()) upload.bytes += chunk.byteLength;
            upload.end = 'complete';
          } catch (error) {
            upload.end = 'failed';
            throw error;
          }
          return upload;
        },
      }),
    ],
    { settings: { body_limit_bytes: 1_000_000 } },
  );
  return { owner, effects, uploads };
};

const signed = (owner: TestMember, given: Partial<Unsigned> = {}, secret = SECRET) =>
  createSignatures(secret).sign({
    method: 'POST',
    target: '/effects',
    from: 'id-entry',
    to: owner.known.self ?? '',
    facts: {
      host: 'localhost',
      address: '127.0.0.1',
      sender: {
        from: 'network',
        entry: { scheme: 'http', isLocalListener: true, isHostAccepted: true },
      },
    },
    hasBody: true,
    now: owner.known.now,
    ...given,
  });

const BODY = JSON.stringify({ text: 'one' });

type Sent = { header: string; method?: string; target?: string; body?: Buffer; more?: string[] };

/** Sends a request with a header of a member, and returns its status. */
const send = async (t: Test, { port }: { port: number }, sent: Sent): Promise<number> => {
  const { header, method = 'POST', target = '/effects', body = Buffer.alloc(0), more = [] } = sent;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: member',
    `X-Troupe-Member: ${header}`,
    'Content-Type: application/json',
    `Content-Length: ${body.byteLength}`,
    ...more,
    '',
    '',
  ];
  const client = wire(t, port, Buffer.concat([Buffer.from(lines.join('\r\n')), body]));
  const [, status] = (await client.until('\r\n\r\n')).split(' ');
  return Number(status);
};

const withTail = (body: string, tail: ReturnType<typeof signed>['tail']): Buffer =>
  Buffer.concat([Buffer.from(body), tail?.update(body).digest() ?? Buffer.alloc(0)]);

t.test('serves a signed request once its body is complete', async (t) => {
  const { owner, effects } = await startCounting(t);
  const { header, tail } = signed(owner);
  t.equal(await send(t, owner, { header, body: withTail(BODY, tail) }), 200);
  t.strictSame(effects, ['one']);

  const without = signed(owner, { method: 'GET', hasBody: false });
  t.equal(await send(t, owner, { header: without.header, method: 'GET' }), 200);
  t.strictSame(effects, ['one', 'get unsigned']);
});

t.test('refuses what no member has signed for this one, without an effect', async (t) => {
  const { owner, effects } = await startCounting(t);
  const { header, tail } = signed(owner);
  const body = withTail(BODY, tail);
  const minutes = (count: number): Partial<Unsigned> => ({ now: owner.known.now + count * 60_000 });
  const other = createSignatures(SECRET).sign;
  const refused: Record<string, Sent> = {
    bare: { header: 'owner' },
    empty: { header: 'v1' },
    'without a signature': { header: header.replace(/mac=.*/, ''), body },
    'another signature': { header: header.replace(/mac=../, 'mac=00'), body },
    'another sender': { header: header.replace('id-entry', 'id-other'), body },
    'other facts': { header: header.replace('client=e', 'client=f'), body },
    'another secret': { header: signed(owner, {}, 'another secret').header, body },
    'another receiver': { header: signed(owner, { to: 'id-other' }).header, body },
    old: { header: signed(owner, minutes(-6)).header, body },
    'from the future': { header: signed(owner, minutes(6)).header, body },
    'another time': { header: header.replace(/at=(\d+)/, (_, at) => `at=${Number(at) + 1}`), body },
    'another target': { header, body, target: '/effects?more=1' },
    'another method': { header, body, method: 'PUT' },
    'two signatures': { header, body, more: [`X-Troupe-Member: ${header}`] },
    'a body without its signature': { header, body: Buffer.from(BODY) },
    'a shorter body': { header, body: body.subarray(1) },
    'a longer body': { header, body: Buffer.concat([body, Buffer.from(' ')]) },
    'another body': { header, body: Buffer.from(body.toString('latin1').replace('one', 'two'), 'latin1') },
    'the body of another request': { header, body: withTail(BODY, signed(owner, minutes(1)).tail) },
    'a body where none was signed': {
      header: other({ ...unsignedFor(owner), hasBody: false }).header.replace('body=none', 'body=signed'),
      body,
    },
  };
  for (const [name, sent] of Object.entries(refused)) {
    t.equal(await send(t, owner, sent), 400, name);
    t.strictSame(effects, [], name);
  }
  owner.known.now += 4 * 60_000;
  t.equal(await send(t, owner, { header, body }), 200, 'within five minutes');
});

const unsignedFor = (owner: TestMember): Unsigned => ({
  method: 'POST',
  target: '/effects',
  from: 'id-entry',
  to: owner.known.self ?? '',
  facts: { host: 'localhost', address: '127.0.0.1', sender: { from: 'stranger' } },
  hasBody: true,
  now: owner.known.now,
});

t.test('ends an upload without success if its bytes were changed', async (t) => {
  const { owner, uploads } = await startCounting(t);
  const { header, tail } = signed(owner, { target: '/uploads' });
  const content = 'x'.repeat(3_000_000);
  const body = withTail(content, tail);
  body[1_500_000] = 0;

  t.equal(await send(t, owner, { header, target: '/uploads', body }), 400);
  await when(() => uploads[0]?.end !== '');
  t.match(uploads, [{ end: 'failed' }]);
});

t.test('reads a signed body in any chunks', async (t) => {
  const { owner, effects } = await startCounting(t);
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.array(fc.nat(250), { maxLength: 6 }),
      async (text, cuts) => {
        const { header, tail } = signed(owner);
        const body = withTail(JSON.stringify({ text }), tail);
        const client = wire(t, owner.port);
        client.socket.setNoDelay(true);
        client.send(
          `POST /effects HTTP/1.1\r\nHost: m\r\nX-Troupe-Member: ${header}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`,
        );
        let at = 0;
        for (const end of [...cuts.toSorted((a, b) => a - b), body.byteLength]) {
          const chunk = body.subarray(at, Math.min(end, body.byteLength));
          at += chunk.byteLength;
          if (chunk.byteLength === 0) continue;
          const frame = [`${chunk.byteLength.toString(16)}\r\n`, chunk, '\r\n'].map((part) =>
            Buffer.from(part),
          );
          client.send(Buffer.concat(frame));
        }
        client.send('0\r\n\r\n');
        if (!(await client.until('\r\n\r\n')).includes(' 200 OK')) return false;
        client.socket.destroy();
        return effects.pop() === text;
      },
    ),
    { numRuns: 60 },
  );
  t.strictSame(effects, []);
});

t.test('refuses the header of members from a client of any member, and from a program', async (t) => {
  const { owner, entry } = await startPair(t, []);
  for (const member of [owner, entry]) {
    const response = await fetch(`${member.url}/effects`, { headers: { 'x-troupe-member': 'owner' } });
    t.equal(response.status, 400, member.name);
    t.equal(response.headers.get('x-troupe-member'), member.name);
  }
  const request = new Request('http://any.test/effects', { headers: { 'x-troupe-member': 'owner' } });
  t.equal((await entry.listeners.fetch(request, { from: 'stranger' })).status, 400);
});

t.test('refuses every signature while no cluster is known', async (t) => {
  const { owner, effects } = await startCounting(t);
  const { header, tail } = signed(owner);
  const body = withTail(BODY, tail);
  owner.known.secret = undefined;
  t.equal(await send(t, owner, { header, body }), 400);
  owner.known.secret = SECRET;
  owner.known.self = undefined;
  t.equal(await send(t, owner, { header, body }), 400);
  t.strictSame(effects, []);

  const entry = await startEntry(t, 'entry');
  entry.known.secret = undefined;
  t.equal((await fetch(`${entry.url}/effects`)).status, 503);
});

t.equal(TAIL_BYTES, 32, 'the length of a signature');
