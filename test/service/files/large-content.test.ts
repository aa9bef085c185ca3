import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { pack } from 'msgpackr';
import t from 'tap';
import { startChat } from '../chat/chat.ts';
import { eventually, type Troupe } from '../troupe.ts';
import { list } from './client.ts';

/** Files that are sent within messages, above `files.inline_max_bytes`. */

const IMAGE = Buffer.alloc(300_000, 'image');
const URL_OF_IMAGE = `data:image/png;base64,${IMAGE.toString('base64')}`;

const SAID = {
  role: 'user',
  parts: [
    { type: 'text', text: 'See:' },
    { type: 'file', mediaType: 'image/png', url: URL_OF_IMAGE, filename: 'a.png' },
  ],
};

/** The size of the largest row of a table on the disk. */
const largestRow = (folder: string, table: string): number => {
  const root = open({ path: folder, noSubdir: false, readOnly: true });
  let most = 0;
  for (const { value } of root.openDB(table, { encoding: 'binary' }).getRange())
    most = Math.max(most, (value as Buffer).length);
  void root.close();
  return most;
};

const blobsOf = (folder: string): string[] => {
  const blobs = join(folder, 'blobs');
  return existsSync(blobs)
    ? readdirSync(blobs).flatMap((pair) => (pair.length === 2 ? readdirSync(join(blobs, pair)) : []))
    : [];
};

const received = ({ models }: Troupe) =>
  models.requests.at(-1)?.request.messages.findLast(({ role }) => role === 'user')?.content;

t.test('keeps rows small, and returns the history as it was sent (check 68)', async (t) => {
  const troupe = await startChat(t);
  await troupe.say('echo', 'C', SAID);
  const seen = [
    { type: 'text', text: 'See:' },
    {
      type: 'image',
      title: 'a.png',
      source: { type: 'base64', media_type: 'image/png', data: IMAGE.toString('base64') },
    },
  ];
  t.strictSame(received(troupe), seen);
  const { messages } = await troupe.history('C');
  t.match(messages[0]?.parts, SAID.parts);
  t.same((await list(troupe.url)).data, [], 'a file of a thread is not listed');
  const ofThread = await list(troupe.url, '?thread_id=C');
  t.match(ofThread.data, [{ filename: 'a.png', bytes: IMAGE.length }]);
  t.strictSame((await list(troupe.url, `?thread_id=C&after=${ofThread.last_id}`)).data, []);
  t.strictSame((await list(troupe.url, '?thread_id=another')).data, []);
  t.equal(blobsOf(t.testdirName).length, 1);
  await troupe.restart();
  t.match((await troupe.history('C')).messages[0]?.parts, SAID.parts);
  const native = await troupe.call('GET', '/v1/threads/C/messages');
  t.match(native.body, { messages: [{ content: seen }] });
  const { body } = await troupe.call('GET', '/v1/threads/C/events');
  t.match(JSON.stringify(body), IMAGE.toString('base64'));
  await troupe.app.stop();
  for (const table of ['messages', 'events'])
    t.ok(largestRow(t.testdirName, table) < 2048, `rows of ${table} are shorter than 2 KB`);
});

t.test('keeps the bytes of a fork, and removes them with the last thread', async (t) => {
  const troupe = await startChat(t, { settings: { files: { grace_secs: 0 } } });
  await troupe.say('echo', 'C', SAID);
  const forked = await troupe.post('/v1/threads/C/fork', {});
  t.equal(forked.status, 201);
  const id = String(forked.body.id);
  await troupe.call('DELETE', '/v1/threads/C');
  t.match((await troupe.history(id)).messages[0]?.parts, SAID.parts);
  await troupe.restart();
  t.match((await troupe.history(id)).messages[0]?.parts, SAID.parts);
  t.equal(blobsOf(t.testdirName).length, 1);
  await troupe.call('DELETE', `/v1/threads/${id}`);
  await eventually(
    async () => blobsOf(t.testdirName),
    ({ length }) => length === 0,
  );
});

t.test('keeps small files, and all of them without the setting, in their rows', async (t) => {
  const small = await startChat(t, { settings: { files: { inline_max_bytes: 300_000 } } });
  await small.say('echo', 'C', SAID);
  t.same(blobsOf(t.testdirName), []);
  t.ok(pack(SAID).length > 300_000);
});
