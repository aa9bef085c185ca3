import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { wire } from '../../http/serve.ts';
import { eventually, startTroupe } from '../troupe.ts';
import { withUsers } from '../users.ts';
import { get, list, send, upload } from './client.ts';

/** Slow, many and wrong uploads (openai.md 9.1). */

const incomingOf = (folder: string): string[] => {
  const incoming = join(folder, 'blobs', 'incoming');
  return existsSync(incoming) ? readdirSync(incoming) : [];
};

const headOf = (more: readonly string[]): string =>
  ['POST /v1/files?purpose=user_data&filename=a HTTP/1.1', 'host: localhost', ...more, '', ''].join('\r\n');

/** Begins an upload that does not end. */
const begin = (test: Parameters<typeof wire>[0], url: string, ...headers: string[]) =>
  wire(test, Number(new URL(url).port), `${headOf(['content-length: 100000', ...headers])}abc`);

const count = (folder: string, expected: number): Promise<unknown> =>
  eventually(
    async () => incomingOf(folder),
    ({ length }) => length === expected,
  );

for (const http_server of ['auto', 'node'] as const)
  t.test(`cuts off an upload that takes too long, on the HTTP server '${http_server}'`, async (t) => {
    const troupe = await startTroupe(t, { settings: { http_server, files: { upload_timeout_secs: 1 } } });
    const slow = begin(t, troupe.url);
    const ended = new Promise((resolve) => slow.socket.once('close', resolve));
    const answer = await slow.until('upload_timeout_secs');
    t.match(answer, 'HTTP/1.1 408');
    t.match(answer.toLowerCase(), 'connection: close');
    await ended;
    await count(t.testdirName, 0);
    t.same((await list(troupe.url)).data, []);
    t.equal((await upload(troupe.url, 'x')).status, 200);
  });

t.test('limits the uploads in progress, of one user and of all', async (t) => {
  const troupe = await withUsers(t, { settings: { files: { max_uploads: 3, max_uploads_per_user: 2 } } });
  const [alice, bob] = [troupe.user('alice'), troupe.user('bob')];
  const head = ({ head: headers }: typeof alice) => Object.entries(headers).map((pair) => pair.join(': '));
  const slow = [alice, alice].map((user) => begin(t, troupe.url, ...head(user)));
  await count(t.testdirName, 2);
  const limited = await upload(troupe.url, 'x', { headers: alice.head });
  t.match(limited.status, 429);
  t.match(limited.body, { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } });
  t.equal(limited.headers.get('retry-after'), '5');
  t.equal((await upload(troupe.url, 'x', { headers: bob.head })).status, 200);
  begin(t, troupe.url, ...head(bob));
  await count(t.testdirName, 3);
  const busy = await upload(troupe.url, 'x', { headers: bob.head });
  t.match(busy.status, 503);
  t.match(busy.body, { error: { type: 'server_error', code: 'overloaded' } });
  t.same([busy.headers.get('retry-after'), busy.headers.get('x-should-retry')], ['5', 'true']);
  for (const { socket } of slow) socket.destroy();
  await count(t.testdirName, 1);
  t.equal((await upload(troupe.url, 'x', { headers: alice.head })).status, 200);
});

const MULTIPART = { 'content-type': 'multipart/form-data; boundary=x' };

const part = (name: string, content: string, filename?: string): string =>
  `--x\r\ncontent-disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n${content}\r\n`;

t.test('rejects wrong multipart bodies, and keeps nothing of them', async (t) => {
  const troupe = await startTroupe(t, { settings: { files: { max_bytes: 100_000 } } });
  const purpose = part('purpose', 'user_data');
  const file = part('file', 'content', 'a.txt');
  const rows: [string, string, number, Record<string, string>?][] = [
    ['two files', `${file}${part('file', 'other', 'b.txt')}${purpose}--x--\r\n`, 400],
    ['no file', `${purpose}--x--\r\n`, 400],
    ['a file in another field', `${part('other', 'content', 'a')}${purpose}--x--\r\n`, 400],
    ['no purpose', `${file}--x--\r\n`, 400],
    ['no end', `${purpose}${file}`, 400],
    [
      'another boundary',
      `${purpose}${file}--x--\r\n`,
      400,
      { 'content-type': 'multipart/form-data; boundary=y' },
    ],
    ['no boundary', file, 400, { 'content-type': 'multipart/form-data;' }],
    ['nothing', '', 400],
    ['many fields', `${part('a', 'b').repeat(40)}${file}--x--\r\n`, 400],
    ['a long preamble', 'x'.repeat(300_000), 413],
    ['a long field', `${part('a', 'b'.repeat(300_000))}${file}--x--\r\n`, 413],
    ['a long file in another field', `${part('other', 'b'.repeat(300_000), 'b')}${file}--x--\r\n`, 413],
  ];
  for (const [name, body, status, headers = MULTIPART] of rows) {
    const sent = await send(troupe.url, '/v1/files', {
      // The length is unknown.
      body: Readable.from(body === '' ? [] : [body]),
      headers: { 'transfer-encoding': 'chunked', ...headers },
    });
    t.equal(sent.status, status, `${name}: ${sent.text}`);
    t.same(Object.keys(JSON.parse(sent.text).error), ['message', 'type', 'param', 'code'], name);
  }
  t.same((await list(troupe.url)).data, []);
  await count(t.testdirName, 0);
  const accepted = await send(troupe.url, '/v1/files', {
    body: Readable.from([`preamble\r\n${purpose}${file}--x--\r\nepilogue`]),
    headers: MULTIPART,
  });
  t.equal(accepted.status, 200);
  t.match(JSON.parse(accepted.text), { bytes: 7, filename: 'a.txt' });
});

for (const http_server of ['auto', 'node'] as const)
  t.test(`stores concurrent large uploads exactly, on the HTTP server '${http_server}'`, async (t) => {
    const troupe = await startTroupe(t, { settings: { http_server } });
    const contents = Array.from({ length: 12 }, (_, index) => randomBytes(1_500_000 + index * 40_000));
    for (const some of [contents.slice(0, 4), contents.slice(4, 8), contents.slice(8)])
      await Promise.all(some.map((bytes) => upload(troupe.url, new Uint8Array(bytes))));
    const { data } = await list(troupe.url);
    t.same(
      new Set(data.map(({ sha256 }) => sha256)),
      new Set(contents.map((bytes) => createHash('sha256').update(bytes).digest('hex'))),
    );
    for (const { id, sha256 } of data) {
      const { bytes } = await get(troupe.url, `/v1/files/${id}/content`);
      t.equal(createHash('sha256').update(bytes).digest('hex'), sha256);
    }
  });
