import OpenAI from 'openai';
import t from 'tap';
import { createClient, InvalidRequest, NotFound, TroupeError } from '../../src/client/index.ts';
import { createPrincipal, createTroupe } from '../../src/index.ts';
import { startTroupe } from '../service/troupe.ts';

/** `client.files`, over HTTP and in process (openai.md 9). */

const REPORT = new File(['Revenue grew.'], 'report.txt', { type: 'text/plain' });

t.test('uploads, lists, reads and deletes files', async (t) => {
  const troupe = await startTroupe(t, { settings: { files: { max_bytes: 1000 } } });
  const { files, runs } = createClient({ url: troupe.url });
  const file = await files.put(REPORT, { purpose: 'vision', expires_in_secs: 3600 });
  t.match(file, { filename: 'report.txt', media_type: 'text/plain', bytes: 13, purpose: 'vision' });
  t.equal(Number(file.expires_at) - file.created_at, 3600);
  const { link, ...stored } = await files.get(file.id);
  t.strictSame(stored, file);
  t.match(link, `/v1/files/${file.id}/content?expires=`);
  t.equal(await (await files.content(file.id)).text(), 'Revenue grew.');
  const other = await files.put(new Blob(['{}']), { filename: 'b.json' });
  t.match(other, {
    filename: 'b.json',
    media_type: 'application/json',
    purpose: 'user_data',
    expires_at: null,
  });
  t.equal((await files.put(new Blob(['x']))).filename, 'file');
  const ids: string[] = [];
  for await (const { id } of files.list({ order: 'asc', limit: 1 })) ids.push(id);
  t.strictSame(ids.slice(0, 2), [file.id, other.id]);
  t.match((await files.list({ purpose: 'vision' })).items, [{ id: file.id }]);

  const messages = [{ role: 'user' as const, content: 'Summarize this.', files: [file.id] }];
  await runs.stream({ agentId: 'echo', messages }).text();
  t.match(troupe.models.requests.at(-1)?.request.messages.at(-1)?.content, [
    { type: 'text' },
    { type: 'document', title: 'report.txt' },
  ]);

  await files.remove(file.id);
  await t.rejects(files.get(file.id), NotFound);
  await t.rejects(files.content(file.id), { name: 'NotFound', message: `No such File object: ${file.id}` });
  await t.rejects(files.put(REPORT, { expires_in_secs: 1 }), InvalidRequest);
  const large = files.put(new Blob(['x'.repeat(1001)]));
  await t.rejects(large, TroupeError);
  await t.rejects(large, { status: 413, code: 'request_too_large', message: /larger than 1000 bytes/ });
});

t.test('stores files of the embedding program and of its users', async (t) => {
  const troupe = await createTroupe({
    listen: false,
    settings: { storage_dir: t.testdir(), log_level: 'silent', seed: { profile: 'demo' } },
  });
  t.teardown(() => troupe.stop());
  const alice = troupe.as(createPrincipal({ scope: 'default', user: 'alice', grants: ['member'] }));
  const bytes = new Uint8Array(3_000_000).fill(7);
  const own = await troupe.files.put(new Blob([bytes]), { filename: 'own.bin' });
  const hers = await alice.files.put(REPORT);
  t.equal((await (await troupe.files.content(own.id)).arrayBuffer()).byteLength, bytes.length);
  t.match((await alice.files.list()).items, [{ id: hers.id }]);
  await t.rejects(alice.files.get(own.id), NotFound);
  await troupe.runs
    .stream({ agentId: 'default', messages: [{ role: 'user', content: 'x', files: [own.id] }] })
    .text();
  const foreign = alice.runs.stream({
    agentId: 'default',
    messages: [{ role: 'user', content: 'x', files: [own.id] }],
  });
  await t.rejects(foreign.text(), { message: `file not found: ${own.id}` });
  await troupe.files.remove(own.id);
  await t.rejects(troupe.files.get(own.id), NotFound);
});

const failureOf = (work: PromiseLike<unknown>): PromiseLike<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

t.test('serves the official client of OpenAI in process', async (t) => {
  const troupe = await createTroupe({
    listen: false,
    settings: { storage_dir: t.testdir(), log_level: 'silent', seed: { profile: 'demo' } },
  });
  t.teardown(() => troupe.stop());
  const { id, key } = await troupe.keys.create({
    name: 'app',
    user: 'app',
    new_user: { kind: 'service', grants: ['member'] },
  });
  const openai = new OpenAI({ baseURL: 'http://troupe.internal/v1', apiKey: key, fetch: troupe.fetch });
  const file = await openai.files.create({ file: REPORT, purpose: 'user_data' });
  t.equal(await (await openai.files.content(file.id)).text(), 'Revenue grew.');
  t.match((await openai.files.list()).data, [{ id: file.id, filename: 'report.txt' }]);
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const whole = await openai.chat.completions.create({ model: 'default', messages });
  let text = '';
  const stream = await openai.chat.completions.create({ model: 'default', messages, stream: true });
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  t.equal(text, whole.choices[0]?.message.content);
  t.ok(text.length > 0);
  await openai.files.delete(file.id);
  t.match(await failureOf(openai.files.retrieve(file.id)), { status: 404 });
  await troupe.keys.revoke(id);
  t.match(await failureOf(openai.files.list()), { status: 401 });
});
