import t from 'tap';
import { asks } from '../models.ts';
import { countRuns } from './chat.ts';
import { startResponses } from './responses.ts';

/** openai-responses.md 8. */

t.test('keeps items, responds on them, and deletes one of them (check 61)', async (t) => {
  const { client, troupe } = await startResponses(t);
  const { id } = await client.conversations.create({
    items: ['one', 'two', 'three'].map((content) => ({ type: 'message', role: 'user', content }) as const),
    metadata: { topic: 'rome' },
  });
  t.match(await client.conversations.retrieve(id), {
    id,
    object: 'conversation',
    metadata: { topic: 'rome' },
  });
  t.equal(await countRuns(troupe), 0);
  for (const input of ['four', 'five'])
    await client.responses.create({ model: 'echo', input, conversation: id });
  const list = await client.conversations.items.list(id, { order: 'asc' });
  const items = list.data as { id: string; role: string; content: { text: string }[] }[];
  const texts = items.map(({ role, content }) => `${role}: ${content[0]?.text}`);
  t.same(texts, [
    ...['user: one', 'user: two', 'user: three', 'user: four', 'assistant: echo: four'],
    ...['user: five', 'assistant: echo: five'],
  ]);
  const removed = items[1]?.id ?? '';
  t.match(await client.conversations.items.delete(removed, { conversation_id: id }), { id });
  await t.rejects(client.conversations.items.retrieve(removed, { conversation_id: id }), { message: /^404/ });
  const page = await client.conversations.items.list(id, { order: 'asc', limit: 2 });
  t.same(
    page.data.map((item) => item.id),
    [items[0]?.id, items[2]?.id],
  );
  const rest = await client.conversations.items.list(id, {
    order: 'asc',
    after: items[2]?.id ?? '',
    limit: 2,
  });
  t.same(
    rest.data.map((item) => item.id),
    [items[3]?.id, items[4]?.id],
  );
  await client.responses.create({ model: 'echo', input: 'six', conversation: id });
  const { request } = troupe.models.requests.at(-1) ?? {};
  t.notMatch(JSON.stringify(request?.messages), /"two"/);
  t.match(await client.conversations.update(id, { metadata: { topic: 'oslo' } }), {
    metadata: { topic: 'oslo' },
  });
  t.match(await client.conversations.delete(id), { deleted: true });
  await t.rejects(client.conversations.retrieve(id), { message: /^404/ });
});

t.test('refuses new items while a run executes', async (t) => {
  const { client, troupe } = await startResponses(t);
  const { id } = await client.conversations.create({});
  await client.responses.create({ model: 'slow', input: 'a', conversation: id, background: true });
  const items = [{ type: 'message', role: 'user', content: 'b' }];
  const refused = await troupe.post(`/v1/conversations/${id}/items`, { items });
  t.equal(refused.status, 409);
  t.match(refused.body, { error: { code: 'conversation_locked' } });
});

t.test('reads a thread of another protocol as a conversation (check 62)', async (t) => {
  const { client, troupe } = await startResponses(t);
  troupe.models.steps.push(asks(['c1', 'note']));
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/cat.png' } };
  await troupe.runToEnd({
    agentId: 'steps',
    threadId: 'native',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, image] }],
  });
  const { data } = await client.conversations.items.list('native', { order: 'asc' });
  t.match(data, [
    {
      type: 'message',
      role: 'user',
      content: [{ text: 'look' }, { image_url: 'https://example.com/cat.png' }],
    },
    { type: 'function_call', name: 'note', call_id: 'c1' },
    { type: 'function_call_output', call_id: 'c1' },
    { type: 'message', role: 'assistant' },
  ]);
  t.match(data[0]?.id, /^msg_s0{7}1$/);
});
