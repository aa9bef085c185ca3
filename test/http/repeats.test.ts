import t, { type Test } from 'tap';
import { z } from 'zod';
import type { IdempotencyPort } from '../../src/http/repeats.ts';
import { type Route, route } from '../../src/http/route.ts';
import { createEventStream, type EventStream } from '../../src/http/sse.ts';
import { fingerprintOf, withContent } from '../../src/idempotency/fingerprint.ts';
import { keyIn, nameOf } from '../../src/idempotency/key.ts';
import type { IdempotencyRow, KeyedResult } from '../../src/schema/idempotency.ts';
import { Conflict } from '../../src/schema/outcome.ts';
import { serve } from './serve.ts';

/** Repeated requests in the HTTP layer, with rows in memory. The commits of the service are in test/service. */

const Body = z.object({ text: z.string() });

const about = { summary: 'test', needs: 'invoke', body: Body, responses: { 200: z.unknown() } } as const;

const port = () => {
  const rows = new Map<string, IdempotencyRow>();
  const counted: KeyedResult[] = [];
  const idempotency: IdempotencyPort = {
    read: ({ principal, keys, ...request }) => ({
      name: nameOf(principal, keyIn(keys)),
      fingerprint: fingerprintOf({ ...request, conversationHeaders: [] }),
    }),
    withContent: ({ name, fingerprint }, content) => ({
      name,
      fingerprint: withContent(fingerprint, content),
    }),
    find: ({ key }) => rows.get(key),
    accepted: ({ name, fingerprint }, answer) => ({ ...name, fingerprint, accepted_at: 0, answer }),
    count: (result) => counted.push(result),
  };
  return { idempotency, counted, commit: ({ row }: { row: IdempotencyRow }) => rows.set(row.key, row) };
};

const start = async (t: Test, make: (commit: ReturnType<typeof port>['commit']) => Route) => {
  const { idempotency, counted, commit } = port();
  const { url } = await serve(t, [make(commit)], {
    idempotency,
    settings: { body_limit_bytes: 1_000_000, sse_buffer_size: 100_000 },
  });
  const post = (text: string, key = 'k') =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ text }),
    });
  return { post, counted };
};

t.test(
  'distinguishes long bodies, and reports a failure to every request that waits for the response',
  async (t) => {
    let calls = 0;
    const { post, counted } = await start(t, () =>
      route.post('/', {
        ...about,
        id: 'create',
        idempotent: true,
        async handle({ body }) {
          calls += 1;
          await new Promise((resolve) => setTimeout(resolve, 20));
          throw new Conflict(`no ${body.text.length}`);
        },
      }),
    );
    const long = 'x'.repeat(100_000);
    const responses = await Promise.all([post(long), post(long), post(`${long}y`)]);
    t.strictSame(responses.map(({ status }) => status).sort(), [409, 409, 422]);
    t.equal(calls, 1);
    t.equal((await post(`${long}y`)).status, 409, 'the key of a failed request is free');
    t.strictSame(counted, ['conflict', 'failed', 'failed']);
  },
);

t.test('makes a stream again that is too long to be recorded', async (t) => {
  let source: EventStream | undefined;
  const { post, counted } = await start(t, (commit) =>
    route.post('/', {
      ...about,
      id: 'start',
      idempotent: true,
      again(_, created) {
        const stream = createEventStream();
        stream.write(`data: again ${created.run}\n\n`);
        stream.end();
        return stream;
      },
      handle({ keyed }) {
        const accept = keyed?.creates((run: string) => ({ run }));
        if (accept) commit(accept('r1'));
        source = createEventStream();
        source.write('data: first\n\n');
        return source;
      },
    }),
  );
  const first = await post('a');
  const joined = await post('a');
  for (let written = 0; written < 5; written += 1) source?.write(`data: ${'x'.repeat(1_000_000)}\n\n`);
  const late = await post('a');
  t.equal(await late.text(), 'data: again r1\n\n');
  source?.write('data: last\n\n');
  source?.end();
  const texts = await Promise.all([first.text(), joined.text()]);
  t.equal(texts[0], texts[1], 'readers receive all frames');
  t.ok(texts[0]?.startsWith('data: first\n\n') && texts[0].endsWith('data: last\n\n'));
  t.notOk(first.headers.has('idempotency-replayed'));
  t.equal(joined.headers.get('idempotency-replayed'), 'true');
  t.equal(late.headers.get('idempotency-replayed'), 'true');
  const after = await post('a');
  t.equal(await after.text(), 'data: again r1\n\n');
  t.strictSame(counted, ['executed', 'joined', 'joined', 'replayed']);
});

t.test('continues a stream whose first client has disconnected', async (t) => {
  let source: EventStream | undefined;
  let isClosed = false;
  const { post } = await start(t, (commit) =>
    route.post('/', {
      ...about,
      id: 'start',
      idempotent: true,
      handle({ keyed }) {
        const accept = keyed?.creates(() => ({}));
        if (accept) commit(accept(undefined));
        source = createEventStream();
        source.onClose(() => {
          isClosed = true;
        });
        source.write('data: 1\n\n');
        return source;
      },
    }),
  );
  const first = await post('a');
  await first.body?.cancel();
  source?.write('data: 2\n\n');
  const second = await post('a');
  t.notOk(isClosed);
  source?.write('data: 3\n\n');
  source?.end();
  t.equal(await second.text(), 'data: 1\n\ndata: 2\n\ndata: 3\n\n');
});
