import { copyFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { backupFolder, examine } from '../../../src/store/index.ts';
import { startChat } from '../chat/chat.ts';
import { startTroupe } from '../troupe.ts';
import { get, list, upload } from './client.ts';

const blobsIn = (folder: string): string[] =>
  readdirSync(join(folder, 'blobs'))
    .filter((pair) => pair.length === 2)
    .flatMap((pair) =>
      readdirSync(join(folder, 'blobs', pair)).map((name) => join(folder, 'blobs', pair, name)),
    );

t.test('backs up files while uploads continue, and restores all that are listed (check 69)', async (t) => {
  const troupe = await startTroupe(t, { settings: { files: { grace_secs: 0 } } });
  const source = t.testdirName;
  await upload(troupe.url, 'first');
  let isOver = false;
  const uploads = (async () => {
    for (let n = 0; !isOver; n += 1) {
      const { body } = await upload(troupe.url, `content ${n}`);
      if (n % 2 === 0) await fetch(`${troupe.url}/v1/files/${body.id}`, { method: 'DELETE' });
    }
  })();
  const copies = [0, 1].map((n) => `${source}-copy-${n}`);
  t.teardown(() => {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  });
  const [own = '', other = ''] = copies;
  await troupe.app.backup(own);
  await backupFolder(source, other);
  isOver = true;
  await uploads;
  t.same(
    readdirSync(join(source, 'blobs')).filter((name) => name.startsWith('hold')),
    [],
  );
  const [blob = ''] = blobsIn(own);
  t.ok(statSync(blob).nlink > 1, 'blobs are linked');
  for (const copy of copies) {
    copyFileSync(join(source, 'secrets.key'), join(copy, 'secrets.key'));
    const report = await examine({ dir: copy });
    t.same(report.findings, []);
    t.match(report.blobs, { orphaned: 0 });
  }
  const restored = await startTroupe(t, { settings: { storage_dir: own } });
  const { data } = await list(restored.url, '?limit=100');
  t.ok(data.length > 0, 'the copy has files');
  for (const { id, bytes } of data)
    t.equal((await get(restored.url, `/v1/files/${id}/content`)).bytes.length, bytes, id);
});

t.test('reports missing, wrong and orphaned contents (check 69)', async (t) => {
  const troupe = await startChat(t);
  const folder = t.testdirName;
  const url = `data:image/png;base64,${Buffer.alloc(50_000).toString('base64')}`;
  await troupe.say('echo', 'C', { role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url }] });
  const kept = await upload(troupe.url, 'kept');
  const gone = await upload(troupe.url, 'gone');
  const deleted = await upload(troupe.url, 'deleted');
  await fetch(`${troupe.url}/v1/files/${deleted.body.id}`, { method: 'DELETE' });
  await troupe.app.stop();
  const whole = await examine({ dir: folder });
  t.same([whole.findings, whole.blobs], [[], { named: 3, orphaned: 1 }]);
  const pathOf = (sha256: unknown) => join(folder, 'blobs', String(sha256).slice(0, 2), String(sha256));
  rmSync(pathOf(gone.body.sha256));
  writeFileSync(pathOf(kept.body.sha256), 'other');
  const { findings } = await examine({ dir: folder });
  t.match(
    findings.sort((one, two) => (one.problem < two.problem ? -1 : 1)),
    [
      { problem: 'a file whose content differs from its hash', examples: [JSON.stringify([kept.body.id])] },
      { problem: 'a file without its content', examples: [JSON.stringify([gone.body.id])] },
    ],
  );
});
