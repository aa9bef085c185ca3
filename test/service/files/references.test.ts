import { createHmac } from 'node:crypto';
import t from 'tap';
import type { ContentBlock } from '../../../src/schema/message.ts';
import { startAgUi } from '../ag-ui/ag-ui.ts';
import { startTroupe, type Troupe } from '../troupe.ts';
import { withUsers } from '../users.ts';
import { get, remove, upload } from './client.ts';

const received = ({ models }: Troupe): readonly ContentBlock[] =>
  models.requests.at(-1)?.request.messages.findLast(({ role }) => role === 'user')?.content ?? [];

const historyOf = async (troupe: Troupe, threadId: string): Promise<ContentBlock[]> => {
  const { body } = await troupe.call('GET', `/v1/threads/${threadId}/messages`);
  // The response schema of the route.
  const { messages } = body as { messages: { role: string; content: ContentBlock[] }[] };
  return messages.filter(({ role }) => role === 'user').flatMap(({ content }) => content);
};

const BYTES = Buffer.from('a,b\n1,2\n');

const uploaded = async ({ url }: Troupe): Promise<string> => {
  const { body } = await upload(url, BYTES, { filename: 'table.csv', type: 'text/csv' });
  return String(body.id);
};

const FILLED = {
  type: 'document',
  title: 'table.csv',
  source: { type: 'base64', media_type: 'text/csv', data: BYTES.toString('base64') },
};

const referenceTo = (file_id: string) => ({
  type: 'document',
  title: 'table.csv',
  source: { type: 'file', file_id, media_type: 'text/csv', bytes: BYTES.length },
});

const TEXT = { type: 'text', text: 'See:' };

t.test('gives the model the bytes of a file that a native message names (check 63)', async (t) => {
  const troupe = await startTroupe(t);
  const id = await uploaded(troupe);
  const messages = [{ role: 'user', content: 'See:', files: [id] }];
  await troupe.runToEnd({ agentId: 'echo', threadId: 'T', messages });
  t.strictSame(received(troupe), [TEXT, FILLED]);
  t.strictSame(await historyOf(troupe, 'T'), [TEXT, referenceTo(id)]);
  const block = { type: 'image', source: { type: 'file', file_id: id, bytes: 1, media_type: 'image/png' } };
  await troupe.runToEnd({ agentId: 'echo', messages: [{ role: 'user', content: [block] }] });
  t.strictSame(received(troupe), [FILLED], 'type and size are those of the file');
});

t.test('accepts references in chat v6, AG-UI and A2A (check 63)', async (t) => {
  const troupe = await startAgUi(t);
  const id = await uploaded(troupe);
  const url = `troupe-file:${id}`;
  await troupe.say('echo', 'C', {
    role: 'user',
    parts: [
      { type: 'text', text: 'See:' },
      { type: 'file', mediaType: 'text/csv', url },
    ],
  });
  t.strictSame(received(troupe), [TEXT, FILLED]);
  const { messages } = await troupe.history('C');
  t.match(messages[0]?.parts, [
    { type: 'text' },
    { type: 'file', url, mediaType: 'text/csv', filename: 'table.csv' },
  ]);

  for (const part of [
    { type: 'binary', mimeType: 'text/csv', id },
    { type: 'document', source: { type: 'url', value: url } },
  ]) {
    const message = { id: 'm', role: 'user', content: [{ type: 'text', text: 'See:' }, part] };
    await troupe.ask({
      agentId: 'echo',
      threadId: `G-${part.type}`,
      runId: `r-${part.type}`,
      messages: [message],
    });
    t.strictSame(received(troupe), [TEXT, FILLED], part.type);
  }

  const sent = await troupe.call(
    'POST',
    '/v1/a2a/echo/message:send',
    { message: { messageId: 'a', role: 'ROLE_USER', parts: [{ text: 'See:' }, { url }] } },
    { 'a2a-version': '1.0' },
  );
  t.equal(sent.status, 200);
  t.strictSame(received(troupe), [TEXT, FILLED]);
});

t.test('rejects files that do not exist or belong to another user', async (t) => {
  const troupe = await withUsers(t);
  const [alice, bob] = [troupe.user('alice'), troupe.user('bob')];
  const { body } = await upload(troupe.url, 'secret', { headers: alice.head });
  const id = String(body.id);
  const run = (user: typeof alice, file: string) =>
    user.post('/v1/runs', { agentId: 'echo', messages: [{ role: 'user', content: 'x', files: [file] }] });
  t.equal((await run(alice, id)).status, 200);
  t.match(await run(bob, id), { status: 400, body: { error: `file not found: ${id}` } });
  t.match(await run(alice, 'file-none'), { status: 400, body: { error: 'file not found: file-none' } });
  for (const path of [`/v1/files/${id}`, `/v1/files/${id}/content`, `/v1/files?after=${id}`])
    t.equal((await get(troupe.url, path, bob.head)).status, path.includes('?') ? 400 : 404, path);
  t.equal((await remove(troupe.url, id, bob.head)).status, 404);
  t.match(await bob.get('/v1/files'), { body: { data: [] } });
  t.match(await alice.get('/v1/files'), { body: { data: [{ id }] } });
  const operator = troupe.user('operator', 'read:all', 'invoke');
  t.match(await operator.get('/v1/files'), { body: { data: [{ id }] } });
  t.equal((await remove(troupe.url, id, operator.head)).status, 403);
});

t.test('replaces a deleted file by a note', async (t) => {
  const troupe = await startTroupe(t);
  const id = await uploaded(troupe);
  await troupe.runToEnd({
    agentId: 'echo',
    threadId: 'T',
    messages: [{ role: 'user', content: 'a', files: [id] }],
  });
  await remove(troupe.url, id);
  await troupe.runToEnd({ agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: 'b' }] });
  const [first] = troupe.models.requests.at(-1)?.request.messages ?? [];
  t.strictSame(first?.content, [
    { type: 'text', text: 'a' },
    { type: 'text', text: "[file 'table.csv' was deleted]" },
  ]);
});

t.test('serves a signed link without a credential until it expires (check 70)', async (t) => {
  let now = Date.now();
  const clock = { now: () => now };
  const troupe = await startTroupe(t, {
    app: { clock },
    settings: { identity: { anonymous: 'never' }, files: { link_ttl_secs: 60 } },
  });
  const authorization = `Bearer admin-token-of-the-tests`;
  const files = await Promise.all(
    ['one', 'two'].map((text) => upload(troupe.url, text, { headers: { authorization } })),
  );
  const [one, two] = files.map(({ body }) => String(body.id));
  const link = troupe.app.fileLink(String(one));
  t.match(link, /^\/v1\/files\/file-[0-9a-f]{32}\/content\?expires=\d+&signature=[0-9a-f]{64}$/);
  t.equal(String((await get(troupe.url, link)).bytes), 'one');
  t.equal((await get(troupe.url, `/v1/files/${one}/content`)).status, 401);
  t.equal((await get(troupe.url, link.replace(String(one), String(two)))).status, 403);
  const [, expires] = /expires=(\d+)/.exec(link) ?? [];
  const later = link.replace(`expires=${expires}`, `expires=${Number(expires) + 1000}`);
  t.equal((await get(troupe.url, later)).status, 403);
  const forged = createHmac('sha256', '').update(`${one}\n${expires}`).digest('hex');
  t.equal((await get(troupe.url, link.replace(/signature=.*/, `signature=${forged}`))).status, 403);
  now += 60_000;
  t.equal((await get(troupe.url, link)).status, 403);
  now -= 60_000;
  await remove(troupe.url, String(one), { authorization });
  t.equal((await get(troupe.url, link)).status, 404);
});

t.test('an expired file is as a deleted one (openai.md 9.5)', async (t) => {
  let ahead = 0;
  const clock = { now: () => Date.now() + ahead };
  const troupe = await startTroupe(t, { app: { clock } });
  const { body } = await upload(troupe.url, BYTES, {
    filename: 'table.csv',
    type: 'text/csv',
    fields: { 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '3600' },
  });
  const id = String(body.id);
  const ask = (files: string[]) =>
    troupe.call('POST', '/v1/runs', {
      agentId: 'echo',
      threadId: 'T',
      messages: [{ role: 'user', content: 'a', files }],
    });
  t.equal((await ask([id])).status, 200);
  const link = troupe.app.fileLink(id);
  ahead = 3600_000;
  for (const restarts of [false, true]) {
    if (restarts) await troupe.restart();
    for (const path of [`/v1/files/${id}`, `/v1/files/${id}/content`])
      t.equal((await get(troupe.url, path)).status, 404, path);
    t.equal((await get(troupe.url, link)).status, 403, 'links of the file expire too');
    t.match(await troupe.call('GET', '/v1/files'), { body: { data: [] } });
    t.match(await ask([id]), { status: 400, body: { error: `file not found: ${id}` } });
    t.equal((await ask([])).status, 200);
    const [first] = troupe.models.requests.at(-1)?.request.messages ?? [];
    t.match(first?.content, [{ text: 'a' }, { text: "[file 'table.csv' was deleted]" }]);
  }
});
