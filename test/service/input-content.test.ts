import t, { type Test } from 'tap';
import { z } from 'zod';
import { fileBlock } from '../../src/client/index.ts';
import { LARGEST_PART, MOST_PARTS } from '../../src/schema/answer-part.ts';
import type { Modality } from '../../src/schema/media.ts';
import type { ContentBlock, InputBlock } from '../../src/schema/message.ts';
import { ModelSpec } from '../../src/schema/model.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { fileOf, image, imageAt, PNG, PNG_IN_WORDS } from '../models/images.ts';
import { says } from './agent-loop/agents.ts';
import { asks, createTestModels } from './models.ts';
import { readTrace, run, startTraced } from './traced.ts';
import { eventually, startTroupe, type Troupe } from './troupe.ts';

/** Content blocks in input and in tool results, from the routes to the model and back. */

const text = (said: string): InputBlock => ({ type: 'text', text: said });
const said = (content: unknown, role = 'user') => ({ messages: [{ role, content }] });

/** Starts the test service with models that are known to accept these kinds of input. */
const startWith = async (t: Test, input?: Modality[], tools = [camera]): Promise<Troupe> => {
  const troupe = await startTroupe(t, { app: { tools } });
  const { models = [] } = createTestModels().entries;
  if (input)
    await troupe.restart({
      models: models.map((model) => ModelSpec.parse({ ...model, modalities: { input } })),
    });
  return troupe;
};

const camera = defineTool({
  id: 'camera',
  description: 'Takes a picture.',
  input: z.object({}),
  execute: () => ({ data: { taken: true }, content: [text('taken'), image()] }),
});

const contents = async (troupe: Troupe, threadId: string, role = 'user'): Promise<ContentBlock[][]> => {
  const { body } = await troupe.call('GET', `/v1/threads/${threadId}/messages`);
  // The response schema of the route.
  const { messages } = body as { messages: { role: string; content: ContentBlock[] }[] };
  return messages.filter((message) => message.role === role).map(({ content }) => content);
};

const asked = ({ models }: Troupe): readonly ContentBlock[] =>
  models.requests.at(-1)?.request.messages.findLast(({ role }) => role === 'user')?.content ?? [];

const ALL: InputBlock[] = [
  text('See:'),
  image(),
  imageAt('https://example.com/a.png?x=1'),
  { ...fileOf('document', 'application/pdf'), title: 'Spec' } as InputBlock,
  fileOf('document', 'text/csv'),
  fileOf('audio', 'audio/wav'),
  fileOf('video', 'video/mp4'),
  { type: 'video', source: { type: 'url', url: 'http://example.com/v', media_type: 'video/mp4' } },
];

t.test('accepts texts and files on every route that takes messages, and stores them', async (t) => {
  const troupe = await startWith(t);
  await troupe.runToEnd({ agentId: 'echo', threadId: 'T', ...said(ALL) });
  t.strictSame(asked(troupe), ALL, 'the model receives all content');
  const sent = await troupe.post('/v1/threads/T/messages', said([text('a'), image()]));
  t.equal(sent.status, 202);
  await eventually(
    () => contents(troupe, 'T', 'assistant'),
    ({ length }) => length === 2,
  );
  const input = await troupe.post(`/v1/runs/${sent.body.accepted_run_id}/inputs`, said([image()]));
  t.equal(input.status, 202);
  await eventually(
    () => contents(troupe, 'T', 'assistant'),
    ({ length }) => length === 3,
  );
  t.strictSame(await contents(troupe, 'T'), [ALL, [text('a'), image()], [image()]]);
});

const place = 'messages[0].content[1]';
const TYPES = "must be one of 'text', 'image', 'document', 'audio', 'video'";
const large = Buffer.alloc(LARGEST_PART + 1).toString('base64');
const base64 = (media_type: string, data: string) => ({ type: 'base64', media_type, data });

const REFUSED: [block: unknown, status: number, error: string][] = [
  [{ type: 'image_url', image_url: { url: 'x' } }, 422, `${place}.type: ${TYPES}`],
  [{ type: 'tool_use', id: 'a', name: 'b', input: {} }, 422, `${place}.type: ${TYPES}`],
  ['text', 422, `${place}: must be an object, not a string`],
  [{ type: 'text' }, 422, `missing field '${place}.text'`],
  [{ type: 'image' }, 422, `missing field '${place}.source'`],
  [
    { type: 'image', source: { type: 'path' } },
    422,
    `${place}.source.type: must be one of 'url', 'base64', 'file'`,
  ],
  [{ type: 'image', source: { type: 'file' } }, 422, `missing field '${place}.source.file_id'`],
  [
    { type: 'image', source: { type: 'file', file_id: 'a b' } },
    400,
    `${place}.source.file_id: must be the id of an uploaded file (got 'a b')`,
  ],
  [
    { type: 'image', source: { type: 'base64', data: 'AAAA' } },
    422,
    `missing field '${place}.source.media_type'`,
  ],
  [
    { type: 'image', source: base64('audio/wav', 'AAAA') },
    400,
    `${place}.source.media_type: must be image/* in a block of type 'image' (got 'audio/wav')`,
  ],
  [
    { type: 'document', source: base64('image/png', 'AAAA') },
    400,
    `${place}.source.media_type: must not be of a type for which there is a block of type 'image' (got 'image/png')`,
  ],
  [
    { type: 'document', source: base64('pdf', 'AAAA') },
    400,
    `${place}.source.media_type: must be a media type such as 'image/png' (got 'pdf')`,
  ],
  [{ type: 'image', source: base64('image/png', '') }, 400, `${place}.source.data: must not be empty`],
  [
    { type: 'image', source: base64('image/png', 'AAA') },
    400,
    `${place}.source.data: must be standard base64 with padding`,
  ],
  [
    { type: 'image', source: base64('image/png', 'data:image/png;base64,AAAA') },
    400,
    `${place}.source.data: must be base64 alone, without 'data:…;base64,' before it`,
  ],
  [
    { type: 'image', source: base64('image/png', large) },
    400,
    `${place}.source.data: holds ${LARGEST_PART + 1} bytes; at most ${LARGEST_PART} are allowed`,
  ],
  [
    { type: 'image', source: { type: 'url', url: 'data:image/png;base64,AAAA' } },
    400,
    `${place}.source.url: must be an http or https URL; bytes are sent as a source of type base64`,
  ],
  ...['ftp://a.example/x', 'file:///etc/passwd', '/relative', 'javascript:1'].map(
    (url): [unknown, number, string] => [
      { type: 'image', source: { type: 'url', url } },
      400,
      `${place}.source.url: must be an absolute http or https URL of at most 8192 characters (got '${url}')`,
    ],
  ),
  [
    { ...image(), title: '' },
    400,
    `${place}.title: must have 1 to 255 characters, and no control characters`,
  ],
];

t.test('rejects an unusable block with its position and the reason, and stores nothing', async (t) => {
  const troupe = await startWith(t);
  for (const [block, status, error] of REFUSED) {
    const answer = await troupe.post('/v1/runs', {
      agentId: 'echo',
      threadId: 'T',
      ...said([text('a'), block]),
    });
    t.equal(answer.status, status, error);
    t.ok(String(answer.body.error).includes(error), `${answer.body.error}`);
  }
  for (const [content, error] of [
    [5, 'messages[0].content: must be a text or an array of content blocks'],
    [null, 'messages[0].content: must be a text or an array of content blocks'],
    [
      Array.from({ length: MOST_PARTS + 1 }, () => text('x')),
      'messages[0].content: must have at most 64 items, not 65',
    ],
  ] as const) {
    const answer = await troupe.post('/v1/runs', { agentId: 'echo', threadId: 'T', ...said(content) });
    t.match(answer, { status: 422 });
    t.ok(String(answer.body.error).includes(error), `${answer.body.error}`);
  }
  const empty = await troupe.post('/v1/runs', { agentId: 'echo', ...said([]) });
  t.match(empty, {
    status: 400,
    body: { error: 'messages[0].content: must be a text or have at least one block' },
  });
  for (const role of ['assistant', 'system']) {
    const answer = await troupe.post('/v1/runs', { agentId: 'echo', ...said([text('a'), image()], role) });
    const error = `${place}: must be of type 'text' in a message of role ${role}`;
    t.match(answer, { status: 400, body: { error } });
  }
  t.equal((await troupe.call('GET', '/v1/runs')).body.total, 0);
  t.equal((await troupe.call('GET', '/v1/threads/T')).status, 404);
});

t.test('accepts a file of the maximum size, and rejects a body above the limit', async (t) => {
  const troupe = await startWith(t);
  const most = Buffer.alloc(LARGEST_PART).toString('base64');
  const body = { agentId: 'echo', threadId: 'T', ...said([fileOf('document', 'application/pdf', most)]) };
  const events = await troupe.runToEnd(body);
  t.equal(events.at(-1)?.event_type, 'run_finish');
  const two = said([
    fileOf('document', 'application/pdf', most),
    fileOf('document', 'application/pdf', most),
  ]);
  t.equal((await troupe.post('/v1/threads/T/messages', two)).status, 413);
  t.equal((await contents(troupe, 'T')).length, 1);
});

t.test('rejects input on every route that the model of the agent is known not to accept', async (t) => {
  const troupe = await startWith(t, ['text', 'pdf']);
  await troupe.runToEnd({ agentId: 'echo', threadId: 'T', ...said([fileOf('document', 'application/pdf')]) });
  const url = `data:image/png;base64,${PNG}`;
  const agUi = { type: 'image', source: { type: 'data', value: PNG, mimeType: 'image/png' } };
  for (const [path, body] of [
    ['/v1/runs', { agentId: 'echo', threadId: 'T', ...said([text('a'), image()]) }],
    ['/v1/threads/T/messages', said([text('a'), image()])],
    ['/v1/ag-ui/run', { agentId: 'echo', threadId: 'T', ...said([text('a'), agUi]) }],
    [
      '/v1/ai-sdk/chat',
      {
        agentId: 'echo',
        messages: [{ role: 'user', parts: [text('a'), { type: 'file', url, mediaType: 'image/png' }] }],
      },
    ],
    [
      '/v1/a2a/echo/message:send',
      {
        message: {
          messageId: 'm',
          role: 'ROLE_USER',
          parts: [text('a'), { raw: PNG, mediaType: 'image/png' }],
        },
      },
    ],
  ] as const) {
    const { status, body: answer } = await troupe.post(path, body);
    t.equal(status, 400, path);
    const error = "agent 'echo' takes no image input: its model 'echo' accepts text, pdf";
    t.ok(JSON.stringify(answer).includes(error), JSON.stringify(answer));
  }
  t.equal((await troupe.call('GET', '/v1/runs')).body.total, 1);
});

t.test('keeps queued and steered files across a restart', async (t) => {
  const troupe = await startWith(t);
  await troupe.run({ agentId: 'slow', threadId: 'T', ...said('Hello') });
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
  t.match(await troupe.post('/v1/threads/T/messages', said([image()])), { body: { status: 'queued' } });
  const steered = { mode: 'steer', ...said([text('and'), fileOf('audio', 'audio/wav')]) };
  t.match(await troupe.post('/v1/threads/T/messages', steered), { status: 202 });
  await troupe.restart();
  await eventually(
    async () => {
      troupe.models.releaseAll();
      return contents(troupe, 'T', 'assistant');
    },
    ({ length }) => length >= 2,
  );
  const stored = (await contents(troupe, 'T')).map((content) => content.map(({ type }) => type));
  t.strictSame(stored.flat().sort(), ['audio', 'image', 'text', 'text']);
  t.strictSame(asked(troupe), [image()]);
});

t.test('sends the content that a tool returned to the model and stores it', async (t) => {
  const troupe = await startWith(t, ['text', 'image']);
  troupe.models.steps.push(asks(['c1', 'camera']), says('A cat.'));
  const events = await troupe.runToEnd({ agentId: 'steps', threadId: 'T', ...said('look') });
  const done = events.find(({ event_type }) => event_type === 'tool_call_done');
  t.match(done, { result: { data: { taken: true }, message: null }, outcome: 'succeeded' });
  t.notOk(JSON.stringify(done).includes(PNG), 'the event does not repeat the file');
  t.strictSame(await contents(troupe, 'T', 'tool'), [[text('taken'), image()]]);
  const { request } = troupe.models.requests.at(-1) ?? {};
  t.strictSame(request?.messages.at(-1)?.content, [text('taken'), image()]);
  t.strictSame(request?.accepts, ['text', 'image'], 'the request states what the model accepts');
});

t.test('fails a call with unusable content, with the reason', async (t) => {
  const bad = (id: string, content: unknown) =>
    defineTool({
      id,
      description: 'Returns content that cannot be used.',
      input: z.object({}),
      // A JavaScript program may return anything.
      execute: () => ({ data: null, content: content as InputBlock[] }),
    });
  const troupe = await startWith(t, undefined, [
    bad('unknown', [{ type: 'picture' }]),
    bad('empty', []),
    bad('broken', [image('AAA')]),
    bad(
      'many',
      Array.from({ length: 3 }, () => image(Buffer.alloc(LARGEST_PART).toString('base64'))),
    ),
  ]);
  troupe.models.steps.push(asks(['c1', 'unknown'], ['c2', 'empty'], ['c3', 'broken'], ['c4', 'many']));
  const events = await troupe.runToEnd({ agentId: 'steps', ...said('look') });
  const messages = events.flatMap((event) =>
    event.event_type === 'tool_call_done' ? [Object(event.result).message] : [],
  );
  t.strictSame(messages, [
    `Execution failed: content[0].type: ${TYPES}`,
    'Execution failed: content: must have at least 1 items',
    'Execution failed: content[0].source.data: must be standard base64 with padding',
    'Execution failed: content: the parts of an answer have at most 16777216 bytes, and these would make it 25165824',
  ]);
});

t.test('creates a content block from a file in the client', async (t) => {
  const bytes = Buffer.from(PNG, 'base64');
  const file = new File([bytes], 'cat.png', { type: 'image/png' });
  t.strictSame(await fileBlock(file), { ...image(), title: 'cat.png' });
  t.strictSame(await fileBlock(new Blob([Buffer.alloc(100_000)], { type: 'application/pdf' }), 'Spec'), {
    ...fileOf('document', 'application/pdf', Buffer.alloc(100_000).toString('base64')),
    title: 'Spec',
  });
  await t.rejects(fileBlock(new Blob([bytes])), { message: /has no media type/ });
});

t.test('describes files in traces', async (t) => {
  const troupe = await startTraced(t, { sampling_disable: true, capture_content: true });
  const run_id = await run(troupe, 'echo', said([text('a'), image()]));
  const { text: trace } = await eventually(
    () => readTrace(troupe, run_id),
    (read) => read.text.includes('request_messages'),
  );
  t.notOk(trace.includes(PNG));
  t.ok(trace.includes(PNG_IN_WORDS));
});
