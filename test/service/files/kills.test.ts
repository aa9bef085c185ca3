import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { examine } from '../../../src/store/index.ts';
import { startChild } from '../../store/child.ts';
import { eventually } from '../troupe.ts';
import { list, send, upload } from './client.ts';

/** Uploads on a full disk, and uploads whose process is killed (openai.md 9.1, 9.2). */

const blobsOf = (data: string): string[] =>
  readdirSync(join(data, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

const incomingOf = (data: string): string[] => {
  try {
    return readdirSync(join(data, 'blobs', 'incoming'));
  } catch {
    return [];
  }
};

const serve = async (t: Test, dir: string, prelude = '') => {
  const args = [join(dir, 'data'), join(dir, 'executed'), 'goes on'];
  const child = startChild(t, '../service/child-serve.ts', args, prelude);
  const [, url = ''] = /^listens on (.*)/.exec(await child.line()) ?? [];
  return { ...child, url };
};

t.test('leaves nothing of uploads that a full disk or a kill ends (check 65)', async (t) => {
  const dir = t.testdir();
  const data = join(dir, 'data');
  const service = await serve(t, dir, "trap '' XFSZ; ulimit -S -f 12288;");
  const kept = await upload(service.url, 'kept');
  t.equal(kept.status, 200);
  const full = await upload(service.url, new Uint8Array(30_000_000));
  t.match(full, { status: 503, body: { error: { code: 'storage_unavailable' } } });
  t.equal(full.headers.get('x-should-retry'), 'true');
  t.same([incomingOf(data), blobsOf(data)], [[], [kept.body.sha256]]);

  const half = Readable.from(
    (async function* () {
      yield Buffer.alloc(1_000_000);
      await new Promise(() => {});
    })(),
  );
  const cut = send(service.url, '/v1/files?purpose=user_data', {
    body: half,
    headers: { 'content-length': '2000000' },
  });
  await eventually(
    async () => incomingOf(data),
    ({ length }) => length === 1,
  );
  service.kill();
  await t.rejects(cut);
  await service.exit;

  // A kill between the name of the blob and the commit of its row.
  const orphan = 'ab'.repeat(32);
  mkdirSync(join(data, 'blobs', 'ab'), { recursive: true });
  writeFileSync(join(data, 'blobs', 'ab', orphan), 'orphan');
  utimesSync(join(data, 'blobs', 'ab', orphan), 0, 0);

  const next = await serve(t, dir);
  t.same(
    (await list(next.url)).data.map(({ id }) => id),
    [kept.body.id],
  );
  t.same(incomingOf(data), []);
  await eventually(
    async () => blobsOf(data),
    ({ length }) => length === 1,
  );
  t.same(blobsOf(data), [kept.body.sha256]);
  next.kill();
  await next.exit;
  t.same((await examine({ dir: data })).findings, []);
});
