import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { startTroupe, type Troupe } from '../troupe.ts';
import { get, list, remove, send, upload } from './client.ts';

const blobsOf = (folder: string): string[] => {
  const blobs = join(folder, 'blobs');
  if (!existsSync(blobs)) return [];
  return readdirSync(blobs)
    .filter((name) => name.length === 2)
    .flatMap((pair) => readdirSync(join(blobs, pair)));
};

const incomingOf = (folder: string): string[] => {
  const incoming = join(folder, 'blobs', 'incoming');
  return existsSync(incoming) ? readdirSync(incoming) : [];
};

const until = async (isReached: () => boolean): Promise<void> => {
  while (!isReached()) await setTimeout(20);
};

t.test('stores an upload, lists it and serves its bytes', async (t) => {
  const troupe = await startTroupe(t);
  const { status, body } = await upload(troupe.url, 'hello', {
    filename: 'greeting.txt',
    type: 'text/plain',
  });
  t.equal(status, 200);
  t.match(body, {
    id: /^file-[0-9a-f]{32}$/,
    object: 'file',
    bytes: 5,
    expires_at: null,
    filename: 'greeting.txt',
    purpose: 'user_data',
    status: 'processed',
    media_type: 'text/plain',
    sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
  });
  const { data, has_more, first_id, last_id } = await list(troupe.url);
  t.same([data.length, has_more, first_id, last_id], [1, false, body.id, body.id]);
  const content = await get(troupe.url, `/v1/files/${body.id}/content`);
  t.equal(String(content.bytes), 'hello');
  t.equal(content.headers.get('etag'), `"${body.sha256}"`);
  t.equal(content.headers.get('accept-ranges'), 'bytes');
  t.equal(content.headers.get('x-content-type-options'), 'nosniff');
  t.equal(content.headers.get('content-security-policy'), 'sandbox');
  t.match(content.headers.get('content-disposition'), /^attachment; filename="greeting.txt"/);
  const one = await get(troupe.url, `/v1/files/${body.id}`);
  const { link, ...file } = JSON.parse(String(one.bytes));
  t.same(file, body);
  t.equal(String((await get(troupe.url, `${link}&inline=true`)).bytes), 'hello');
});

t.test('accepts a body that is the file itself', async (t) => {
  const troupe = await startTroupe(t);
  const sent = await send(troupe.url, '/v1/files?filename=b.json&purpose=assistants', {
    body: Readable.from(['{"a":', '1}']),
    headers: { 'content-type': 'application/octet-stream' },
  });
  t.equal(sent.status, 200);
  t.match(JSON.parse(sent.text), {
    filename: 'b.json',
    media_type: 'application/json',
    purpose: 'assistants',
    bytes: 7,
  });
  const without = await send(troupe.url, '/v1/files?filename=b.json', {
    body: Readable.from(['x']),
    headers: {},
  });
  t.equal(without.status, 400);
  t.match(JSON.parse(without.text), { error: { type: 'invalid_request_error', param: null } });
});

t.test('returns ranges of the content, and 304 for a cached one', async (t) => {
  const troupe = await startTroupe(t);
  const { body } = await upload(troupe.url, '0123456789');
  const path = `/v1/files/${body.id}/content`;
  for (const [range, text, header] of [
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
  ] as const) {
    const part = await get(troupe.url, path, { range });
    t.same([part.status, String(part.bytes), part.headers.get('content-range')], [206, text, header], range);
  }
  t.same((await get(troupe.url, path, { range: 'bytes=10-' })).status, 416);
  t.same(String((await get(troupe.url, path, { range: 'bytes=4-2' })).bytes), '0123456789');
  t.equal((await get(troupe.url, path, { 'if-none-match': `"${body.sha256}"` })).status, 304);
  const shown = await get(troupe.url, `${path}?inline=true`);
  t.match(shown.headers.get('content-disposition'), /^inline/);
  const page = await upload(troupe.url, '<script>', { filename: 'a.html', type: 'text/html' });
  const html = await get(troupe.url, `/v1/files/${page.body.id}/content?inline=true`);
  t.match(html.headers.get('content-disposition'), /^attachment/);
});

t.test(
  'stores equal bytes once, and removes them after the last file and the grace period (check 64)',
  async (t) => {
    const troupe = await startTroupe(t, { settings: { files: { grace_secs: 1 } } });
    const folder = t.testdirName;
    const [one, two] = [
      await upload(troupe.url, 'same'),
      await upload(troupe.url, 'same', { filename: 'b.txt' }),
    ];
    t.equal((await list(troupe.url)).data.length, 2);
    t.equal(blobsOf(folder).length, 1);
    t.match(await remove(troupe.url, String(one.body.id)), {
      status: 200,
      body: { deleted: true, id: one.body.id },
    });
    t.equal((await get(troupe.url, `/v1/files/${one.body.id}/content`)).status, 404);
    t.equal(String((await get(troupe.url, `/v1/files/${two.body.id}/content`)).bytes), 'same');
    await remove(troupe.url, String(two.body.id));
    t.equal(blobsOf(folder).length, 1, 'the blob stays for the grace period');
    await until(() => blobsOf(folder).length === 0);
  },
);

t.test('leaves nothing of an upload that is cut off (check 65)', async (t) => {
  const troupe = await startTroupe(t);
  const folder = t.testdirName;
  const cut = Readable.from(
    (async function* () {
      yield Buffer.alloc(300_000);
      await until(() => incomingOf(folder).length === 1);
      throw new Error('cut');
    })(),
  );
  await t.rejects(
    send(troupe.url, '/v1/files?purpose=user_data', { body: cut, headers: { 'content-length': '600000' } }),
  );
  await until(() => incomingOf(folder).length === 0);
  t.same((await list(troupe.url)).data, []);
  t.same(blobsOf(folder), []);
  const boundary = 'x';
  const half = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc`;
  const broken = await send(troupe.url, '/v1/files', {
    body: Readable.from([half]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  });
  t.equal(broken.status, 400);
  await until(() => incomingOf(folder).length === 0);
  t.same((await list(troupe.url)).data, []);
});

t.test('rejects files beyond the limits without storing them (check 66)', async (t) => {
  const troupe = await startTroupe(t, {
    settings: { files: { max_bytes: 200_000, max_total_bytes: 250_000 } },
  });
  const folder = t.testdirName;
  const large = await upload(troupe.url, new Uint8Array(200_001));
  t.same(
    [large.status, large.body],
    [
      413,
      {
        error: {
          message: 'the file is larger than 200000 bytes (files.max_bytes)',
          type: 'invalid_request_error',
          param: null,
          code: 'request_too_large',
        },
      },
    ],
  );
  const announced = await send(troupe.url, '/v1/files?purpose=vision', {
    body: Readable.from([Buffer.alloc(400_000)]),
    headers: { 'content-length': '400000' },
  });
  t.equal(announced.status, 413);
  const unannounced = await send(troupe.url, '/v1/files?purpose=vision', {
    body: Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(64_000))),
    headers: { 'transfer-encoding': 'chunked' },
  });
  t.equal(unannounced.status, 413);
  t.equal((await upload(troupe.url, new Uint8Array(200_000))).status, 200);
  const full = await upload(troupe.url, new Uint8Array(100_000));
  t.same([full.status, full.headers.get('x-should-retry')], [507, 'false']);
  t.same(incomingOf(folder), []);
  t.equal(blobsOf(folder).length, 1);
  t.equal((await list(troupe.url)).data.length, 1);
});

t.test('stores a file under its hash, whatever its name (check 67)', async (t) => {
  const troupe = await startTroupe(t);
  const folder = t.testdirName;
  const names = [
    ['../../x', 'x'],
    ['a\u0000b.txt', 'ab.txt'],
    [`${'n'.repeat(300)}.txt`, 'n'.repeat(255)],
    ['..', 'file'],
    ['c:\\dir\\d.txt', 'd.txt'],
  ] as const;
  for (const [given, kept] of names) {
    const sent = await send(troupe.url, `/v1/files?purpose=user_data&filename=${encodeURIComponent(given)}`, {
      body: Readable.from(['bytes']),
      headers: {},
    });
    t.match(JSON.parse(sent.text), { filename: kept });
  }
  t.equal(blobsOf(folder).length, 1);
  const [blob = ''] = blobsOf(folder);
  t.equal(statSync(join(folder, 'blobs', blob.slice(0, 2), blob)).mode & 0o777, 0o600);
  const { body } = await upload(troupe.url, 'x', { filename: 'grüße "x".txt' });
  const content = await get(troupe.url, `/v1/files/${body.id}/content`);
  t.equal(
    content.headers.get('content-disposition'),
    `attachment; filename="gr__e _x_.txt"; filename*=UTF-8''gr%C3%BC%C3%9Fe%20%22x%22.txt`,
  );
});

t.test('pages through files in both directions', async (t) => {
  const troupe = await startTroupe(t);
  const ids: unknown[] = [];
  for (const purpose of ['user_data', 'vision', 'user_data', 'user_data'])
    ids.push((await upload(troupe.url, 'x', { purpose })).body.id);
  const names = async (query: string) => {
    const { data, has_more } = await list(troupe.url, query);
    return [data.map(({ id }) => ids.indexOf(id)), has_more];
  };
  t.same(await names(''), [[3, 2, 1, 0], false]);
  t.same(await names('?limit=2'), [[3, 2], true]);
  t.same(await names(`?limit=2&after=${ids[2]}`), [[1, 0], false]);
  t.same(await names(`?order=asc&limit=1&after=${ids[0]}`), [[1], true]);
  t.same(await names('?purpose=user_data'), [[3, 2, 0], false]);
  for (const query of ['?limit=0', '?limit=101', '?after=file-none', '?order=up', '?purpose=none']) {
    const { status, bytes } = await get(troupe.url, `/v1/files${query}`);
    t.match([status, JSON.parse(String(bytes))], [400, { error: { type: 'invalid_request_error' } }], query);
  }
});

t.test('expires files', async (t) => {
  const troupe = await startTroupe(t);
  const { body } = await upload(troupe.url, 'x', {
    fields: { 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '3600' },
  });
  t.equal(Number(body.expires_at) - Number(body.created_at), 3600);
  const wrong = await upload(troupe.url, 'x', { fields: { 'expires_after[seconds]': '10' } });
  t.equal(wrong.status, 400);
  t.equal((await upload(troupe.url, 'x', { purpose: 'none' })).status, 400);
});

const isWhole = async ({ url }: Troupe): Promise<boolean> => {
  const found = await list(url);
  const contents = await Promise.all(found.data.map(({ id }) => get(url, `/v1/files/${id}/content`)));
  return contents.every(({ bytes }, at) => bytes.length === found.data[at]?.bytes);
};

t.test('serves the files of an earlier process, and removes its unfinished ones', async (t) => {
  const troupe = await startTroupe(t);
  await upload(troupe.url, new Uint8Array(1_000_000));
  await troupe.restart();
  t.ok(await isWhole(troupe), 'every listed file has all of its bytes');
  t.equal((await list(troupe.url)).data.length, 1);
});

t.test('responds to every wrong request in the form of OpenAI', async (t) => {
  const troupe = await startTroupe(t);
  for (const [method, path, status] of [
    ['PUT', '/v1/files', 405],
    ['GET', '/v1/files/a/b', 404],
    ['GET', '/v1/files/file-none', 404],
    ['DELETE', '/v1/files/file-none', 404],
    ['GET', '/v1/files/file-none/content', 404],
  ] as const) {
    const response = await fetch(`${troupe.url}${path}`, { method });
    const body = JSON.parse(await response.text());
    t.same([response.status, Object.keys(body.error)], [status, ['message', 'type', 'param', 'code']], path);
  }
  const text = await send(troupe.url, '/v1/files', {
    body: Readable.from(['x']),
    headers: { 'content-type': 'multipart/form-data' },
  });
  t.equal(text.status, 400);
});
