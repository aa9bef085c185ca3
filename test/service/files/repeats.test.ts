import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { startTroupe } from '../troupe.ts';
import { list, remove, send, upload } from './client.ts';

/** Uploads with an `Idempotency-Key` (runtime.md 0.8). */

const RAW = '/v1/files?filename=a.txt&purpose=user_data';

const KEY = { 'idempotency-key': 'k' };

t.test('stores an upload once that is sent again with its key', async (t) => {
  const troupe = await startTroupe(t);
  const first = await upload(troupe.url, 'hello', { headers: KEY });
  t.notOk(first.headers.has('idempotency-replayed'));
  for (const restarts of [false, true]) {
    if (restarts) await troupe.restart();
    // Each form has another boundary.
    const again = await upload(troupe.url, 'hello', { headers: KEY });
    t.equal(again.status, 200);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.strictSame(again.body, first.body);
  }
  for (const more of [{ filename: 'b.txt' }, { purpose: 'vision' }, { type: 'text/html' }]) {
    const other = await upload(troupe.url, 'hello', { headers: KEY, ...more });
    t.match(other, {
      status: 422,
      body: {
        error: {
          message: 'Idempotency-Key was used for another request',
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
      },
    });
  }
  t.equal((await upload(troupe.url, 'other', { headers: KEY })).status, 422);
  t.equal((await list(troupe.url)).data.length, 1);
  const raw = (body: string) =>
    send(troupe.url, RAW, {
      body: Readable.from([body]),
      headers: { 'content-type': 'text/plain', 'idempotency-key': 'raw' },
    });
  t.equal((await raw('hello')).text, (await raw('hello')).text);
  t.equal((await raw('other')).status, 422);
  t.equal((await list(troupe.url)).data.length, 2);
  await remove(troupe.url, String(first.body.id));
  t.strictSame((await upload(troupe.url, 'hello', { headers: KEY })).body, first.body);
  t.equal((await list(troupe.url)).data.length, 1, 'a repeat stores no file');
});

t.test('refuses a repeat while the upload is in progress', async (t) => {
  const folder = t.testdir();
  const troupe = await startTroupe(t, { settings: { storage_dir: folder } });
  let finish = (): void => {};
  const rest = new Promise<void>((resolve) => {
    finish = resolve;
  });
  async function* slowly() {
    yield 'half';
    await rest;
    yield ' and half';
  }
  const headers = { 'content-type': 'text/plain', ...KEY };
  const slow = send(troupe.url, RAW, { body: Readable.from(slowly()), headers });
  const incoming = join(folder, 'blobs', 'incoming');
  while (!existsSync(incoming) || readdirSync(incoming).length === 0) await setTimeout(5);
  const again = () => send(troupe.url, RAW, { body: Readable.from(['half and half']), headers });
  const refused = await again();
  t.equal(refused.status, 409);
  t.equal(refused.headers['retry-after'], '1');
  t.match(JSON.parse(refused.text).error, { type: 'invalid_request_error', param: null, code: null });
  finish();
  const first = await slow;
  t.equal(first.status, 200);
  t.equal((await again()).text, first.text);
});
