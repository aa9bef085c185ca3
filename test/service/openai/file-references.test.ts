import t from 'tap';
import { z } from 'zod';
import type { ContentBlock } from '../../../src/schema/message.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { says } from '../agent-loop/agents.ts';
import { get, remove, upload } from '../files/client.ts';
import { ask } from '../http.ts';
import { asks } from '../models.ts';
import { withUsers } from '../users.ts';
import { countRuns } from './chat.ts';

/** References to stored files in chat completions, responses and conversations (openai.md 9.3). */

/** Writes a file, which becomes a part of the answer. */
const draw = defineTool({
  id: 'draw',
  description: 'Draws a picture.',
  input: z.object({}),
  async execute(_, { files }) {
    const file = { name: 'a [1].png', media_type: 'image/png', data: Buffer.from('png') };
    const file_id = (await files?.write(file)) ?? '';
    return { data: file_id, parts: [{ file_id }] };
  },
});

const troupe = await withUsers(t, { app: { tools: [draw] } });
const [alice, bob] = [troupe.user('alice'), troupe.user('bob')];
const BYTES = Buffer.from('a,b\n1,2\n');

const uploaded = async (): Promise<string> => {
  const { body } = await upload(troupe.url, BYTES, {
    filename: 'table.csv',
    type: 'text/csv',
    headers: alice.head,
  });
  return String(body.id);
};

const id = await uploaded();
const url = `troupe-file:${id}`;

const received = (): readonly ContentBlock[] =>
  troupe.models.requests.at(-1)?.request.messages.findLast(({ role }) => role === 'user')?.content ?? [];

const FILLED = {
  type: 'document',
  title: 'table.csv',
  source: { type: 'base64', media_type: 'text/csv', data: BYTES.toString('base64') },
};
const TEXT = { type: 'text', text: 'See:' };

t.test('gives the model the bytes of files in chat completions (check 63)', async (t) => {
  for (const part of [
    { type: 'file', file: { file_id: id } },
    { type: 'image_url', image_url: { url } },
  ]) {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'See:' }, part] }];
    const { status } = await alice.post('/v1/chat/completions', { model: 'echo', messages });
    t.equal(status, 200);
    t.strictSame(received(), [TEXT, FILLED], part.type);
  }
});

t.test('gives the model the bytes of files in responses, and reads them back (check 63)', async (t) => {
  for (const part of [
    { type: 'input_file', file_id: id },
    { type: 'input_file', file_url: url },
    { type: 'input_image', file_id: id },
    { type: 'input_image', image_url: url },
  ]) {
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'See:' }, part] }];
    const { body } = await alice.post('/v1/responses', { model: 'echo', input });
    t.equal(body.status, 'completed');
    t.strictSame(received(), [TEXT, FILLED], JSON.stringify(part));
    const shown = [
      { type: 'input_text', text: 'See:' },
      { type: 'input_file', filename: 'table.csv', file_id: id },
    ];
    const items = await alice.get(`/v1/responses/${body.id}/input_items`);
    t.match(items.body, { data: [{ content: shown }] });
    // The tests compare the rest.
    const { id: conversation } = body.conversation as { id: string };
    const history = await alice.get(`/v1/conversations/${conversation}/items?order=asc`);
    t.match(history.body, { data: [{ content: shown }, { role: 'assistant' }] });
  }
});

t.test('accepts files in histories and in items of conversations', async (t) => {
  const file = { role: 'user', content: [{ type: 'file', file: { file_id: id } }] };
  const messages = [file, { role: 'assistant', content: 'I see.' }, { role: 'user', content: 'b' }];
  t.equal((await alice.post('/v1/chat/completions', { model: 'echo', messages })).status, 200);
  t.match(troupe.models.requests.at(-1)?.request.messages[0]?.content, [FILLED]);
  const items = [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }];
  const { body } = await alice.post('/v1/conversations', { items });
  const read = await alice.get(`/v1/conversations/${body.id}/items`);
  t.match(read.body, { data: [{ content: [{ type: 'input_file', filename: 'table.csv', file_id: id }] }] });
});

t.test(
  'rejects files that do not exist or belong to another user, and writes nothing (check 6)',
  async (t) => {
    const runs = await countRuns(alice);
    const deleted = await uploaded();
    await remove(troupe.url, deleted, alice.head);
    for (const [user, file] of [
      [bob, id],
      [alice, deleted],
      [alice, 'file-none'],
      [alice, '../x'],
      [alice, ''],
    ] as const) {
      const of = (param: string) => ({
        status: 400,
        body: {
          error: {
            message: `file not found: ${file}`,
            type: 'invalid_request_error',
            param,
            code: 'invalid_value',
          },
        },
      });
      const content = [
        { type: 'text', text: 'See:' },
        { type: 'file', file: { file_id: file } },
      ];
      const chat = (messages: object[], headers = {}) =>
        user.call('POST', '/v1/chat/completions', { model: 'echo', messages }, headers);
      t.match(await chat([{ role: 'user', content }]), of('messages[0].content[1]'));
      const later = [
        { role: 'user', content },
        { role: 'assistant', content: 'a' },
        { role: 'user', content: 'b' },
      ];
      t.match(await chat(later, { 'x-conversation-id': 'c' }), of('messages[0].content[1]'));
      for (const part of [
        { type: 'input_file', file_id: file },
        { type: 'input_image', image_url: `troupe-file:${file}` },
      ]) {
        const input = [
          { role: 'user', content: 'a' },
          { role: 'user', content: [part] },
        ];
        t.match(await user.post('/v1/responses', { model: 'echo', input }), of('input[1].content[0]'));
        t.match(await user.post('/v1/conversations', { items: input }), of('items[1].content[0]'));
      }
    }
    t.equal(await countRuns(alice), runs);
    t.match((await bob.get('/v1/threads')).body, { total: 0 });
  },
);

t.test('reads a deleted file no more when a history continues its thread', async (t) => {
  const file = await uploaded();
  const messages: object[] = [{ role: 'user', content: [{ type: 'file', file: { file_id: file } }] }];
  const chat = (messages: object[]) =>
    alice.call('POST', '/v1/chat/completions', { model: 'echo', messages }, { 'x-conversation-id': 'd' });
  await chat(messages);
  await remove(troupe.url, file, alice.head);
  messages.push({ role: 'assistant', content: 'echo: ' }, { role: 'user', content: 'b' });
  t.equal((await chat(messages)).status, 200);
});

t.test('rejects parts whose fields have the wrong type', async (t) => {
  for (const part of [
    { type: 'input_image', image_url: { url } },
    { type: 'input_file', file_id: 7 },
    { type: 'input_file' },
  ]) {
    const input = [{ role: 'user', content: [part] }];
    t.match(await alice.post('/v1/responses', { model: 'echo', input }), {
      status: 400,
      body: { error: { param: /^input\[0\]\.content\[0\]/ } },
    });
  }
});

type Part = { text: string; annotations: { file_id: string }[] };
const partOf = (items: unknown): Part | undefined =>
  // The tests compare the rest.
  (items as { type: string; content: Part[] }[]).find(({ type }) => type === 'message')?.content[0];

t.test('annotates the answer of a response with the files of its tools (check 71)', async (t) => {
  troupe.models.steps.push(asks(['c1', 'draw', {}]), says('Done.'));
  const { body } = await alice.post('/v1/responses', { model: 'steps', input: 'Draw.' });
  const part = partOf(body.output);
  const file_id = part?.annotations[0]?.file_id ?? '';
  t.strictSame(part?.annotations, [{ type: 'file_path', file_id, index: 0 }]);
  const content = await get(troupe.url, `/v1/files/${file_id}/content`, alice.head);
  t.equal(String(content.bytes), 'png');
  const stored = await alice.get(`/v1/responses/${body.id}`);
  t.strictSame(stored.body.output, body.output);
  const replay = await ask(`${troupe.url}/v1/responses/${body.id}?stream=true`, { headers: alice.head });
  t.match(await replay.text(), /response\.output_text\.annotation\.added.*file_path/s);
  const { id: conversation } = body.conversation as { id: string };
  const items = await alice.get(`/v1/conversations/${conversation}/items`);
  t.match(partOf(items.body.data)?.annotations, [{ type: 'file_path', file_id, index: 0 }]);
});

t.test('keeps a file for the answer behind an approval (checks 46, 71)', async (t) => {
  troupe.models.steps.push(asks(['c1', 'draw', {}]), asks(['c2', 'risky', {}]), says('Done.'));
  const { body } = await alice.post('/v1/responses', { model: 'steps', input: 'Draw.' });
  const [request] = (body.output as { id: string; type: string }[]).filter(
    ({ type }) => type === 'mcp_approval_request',
  );
  const approval = { type: 'mcp_approval_response', approval_request_id: request?.id, approve: true };
  const done = await alice.post('/v1/responses', { previous_response_id: body.id, input: [approval] });
  t.match(partOf(done.body.output)?.annotations, [{ type: 'file_path' }]);
});

t.test(
  'links to the files of an answer in chat completions, and knows the answer again (check 71)',
  async (t) => {
    const head = { 'x-conversation-id': 'draw' };
    const chat = (messages: object[], more = {}) =>
      alice.call('POST', '/v1/chat/completions', { model: 'steps', messages, ...more }, head);
    troupe.models.steps.push(asks(['c1', 'draw', {}]), says('Done.'));
    const messages: object[] = [{ role: 'user', content: 'Draw.' }];
    const drawn = await chat(messages);
    // The tests compare the rest.
    const [choice] = drawn.body.choices as { message: { content: string } }[];
    const content = choice?.message.content ?? '';
    const [, link = ''] = /^Done\.\n\n!\[a {2}1 \.png\]\((\S+)\)$/.exec(content) ?? [];
    t.equal(String((await get(troupe.url, link)).bytes), 'png', 'without a credential');
    messages.push({ role: 'assistant', content }, { role: 'user', content: 'Thanks.' });
    const next = await chat(messages);
    t.equal(next.headers.get('x-troupe-thread-id'), drawn.headers.get('x-troupe-thread-id'));
  },
);
