import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { eventually, startTroupe } from '../troupe.ts';
import { get, remove, upload } from './client.ts';

/** Downloads of files that are deleted, and requests without a body (openai.md 9.1, 9.5). */

t.test('completes a download whose file is deleted, and serves nothing of it later', async (t) => {
  const troupe = await startTroupe(t, { settings: { files: { grace_secs: 0 } } });
  const bytes = new Uint8Array(8_000_000).fill(5);
  const { body } = await upload(troupe.url, bytes);
  const path = `/v1/files/${body.id}/content`;
  const sent = request(`${troupe.url}${path}`).end();
  const [response] = await once(sent, 'response');
  response.pause();
  await remove(troupe.url, String(body.id));
  const blob = join(t.testdirName, 'blobs', String(body.sha256).slice(0, 2), String(body.sha256));
  await eventually(
    async () => existsSync(blob),
    (exists) => !exists,
  );
  let length = 0;
  for await (const chunk of response) length += chunk.length;
  t.equal(length, bytes.length);
  const etag = `"${body.sha256}"`;
  const requests: Record<string, string>[] = [{}, { range: 'bytes=0-9' }, { 'if-none-match': etag }];
  for (const headers of requests)
    t.equal((await get(troupe.url, path, headers)).status, 404, JSON.stringify(headers));
  t.equal((await remove(troupe.url, String(body.id))).status, 404);
});

t.test('responds to HEAD and conditional requests', async (t) => {
  const troupe = await startTroupe(t);
  const { body } = await upload(troupe.url, '0123456789');
  const path = `/v1/files/${body.id}/content`;
  const head = await fetch(troupe.url + path, { method: 'HEAD' });
  t.same([head.status, head.headers.get('etag'), await head.text()], [200, `"${body.sha256}"`, '']);
  for (const [name, value, status] of [
    ['if-none-match', `W/"${body.sha256}"`, 304],
    ['if-none-match', '*', 304],
    ['if-none-match', '"other"', 200],
    ['range', 'bytes=0-2,4-5', 200],
    ['range', 'bytes=-0', 416],
    ['range', 'items=0-1', 200],
    ['range', `bytes=${'9'.repeat(15)}-`, 416],
  ] as const)
    t.equal((await get(troupe.url, path, { [name]: value })).status, status, `${name}: ${value}`);
  const empty = await upload(troupe.url, '');
  t.match(empty, { status: 200, body: { bytes: 0 } });
  const nothing = `/v1/files/${empty.body.id}/content`;
  t.same((await get(troupe.url, nothing)).bytes.length, 0);
  t.equal((await get(troupe.url, nothing, { range: 'bytes=0-' })).status, 416);
});
