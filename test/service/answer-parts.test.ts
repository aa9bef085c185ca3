import { safeValidateUIMessages } from 'ai';
import t from 'tap';
import { z } from 'zod';
import type { AppInput } from '../../src/composition/input.ts';
import type { AnswerPart } from '../../src/index.ts';
import { ModelError } from '../../src/models/errors.ts';
import { definePlugin } from '../../src/plugins/define.ts';
import type { ContentBlock } from '../../src/schema/message.ts';
import { entriesFrom } from '../../src/settings/index.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { chunksOf, play } from '../protocols/ai-sdk/client.ts';
import { a2aFor } from './a2a/tasks-client.ts';
import { user as agUiUser, find, startAgUi } from './ag-ui/ag-ui.ts';
import { endOf, only, resultsIn, say, says, seenIn, types } from './agent-loop/agents.ts';
import { startChat, user } from './chat/chat.ts';
import { asks, hangs, type Inference } from './models.ts';
import { eventually, startTroupe, type Troupe } from './troupe.ts';

/** Files, links and data in messages, as every client receives them while they stream and when they are read later. */

const FILE: AnswerPart = { file: Buffer.from('a,b'), media_type: 'text/csv', filename: 'table.csv' };
const LINK: AnswerPart = { url: 'https://a.example/chart.png' };
const DATA: AnswerPart = { data: { rows: 2 }, filename: 'rows.json' };
const CSV = 'data:text/csv;base64,YSxi';

const making = (id: string, parts: AnswerPart[]): Tool =>
  defineTool({
    id,
    description: 'Makes parts of an answer.',
    input: z.object({}),
    execute: () => ({ data: 'made', parts }),
  });

const TOOLS = [making('report', [FILE, LINK, DATA])];

const withTools = (more: Partial<AppInput> = {}) => ({ app: { tools: TOOLS, ...more } });

const contentOf = async (troupe: Troupe, threadId: string): Promise<ContentBlock[][]> => {
  const { body } = await troupe.call('GET', `/v1/threads/${threadId}/messages`);
  // The response schema of the route.
  const { messages } = body as { messages: { role: string; content: ContentBlock[] }[] };
  return messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
};

const STORED = [
  {
    type: 'document',
    source: { type: 'base64', media_type: 'text/csv', data: 'YSxi' },
    title: 'table.csv',
  },
  { type: 'image', source: { type: 'url', url: 'https://a.example/chart.png' } },
  {
    type: 'text',
    text: '{"rows":2}',
    media_type: 'application/json',
    part: { filename: 'rows.json' },
  },
  { type: 'text', text: 'Here.' },
];

t.test('emits the parts of a tool with its result, and stores them before the text', async (t) => {
  const troupe = await startTroupe(t, withTools());
  troupe.models.steps.push(asks(['c1', 'report']), says('Here.'));
  const events = await troupe.runToEnd(say('steps', 'x', 'T'));
  const told = only(events, 'activity_snapshot');
  t.strictSame(
    told.map(({ activity_type, content, replace }) => [activity_type, content, replace]),
    [
      ['file', { url: CSV, mediaType: 'text/csv', filename: 'table.csv' }, true],
      ['file', { url: 'https://a.example/chart.png', mediaType: 'image/png' }, true],
      ['data', { data: { rows: 2 }, filename: 'rows.json' }, true],
    ],
  );
  t.equal(new Set(told.map(({ message_id }) => message_id)).size, 3);
  const order = types(events);
  t.ok(order.indexOf('tool_call_done') < order.indexOf('activity_snapshot'));
  t.ok(order.indexOf('activity_snapshot') < order.lastIndexOf('step_start'));
  t.match(endOf(events), { result: { response: 'Here.' } });
  t.strictSame((await contentOf(troupe, 'T')).at(-1), STORED);
});

t.test('names the parts of a message to the model without their bytes', async (t) => {
  const troupe = await startTroupe(t, withTools());
  troupe.models.steps.push(asks(['c1', 'report']), says('Here.'), says('Again.'));
  await troupe.runToEnd(say('steps', 'x', 'T'));
  await troupe.runToEnd(say('steps', 'y', 'T'));
  t.match(seenIn(troupe.models.requests.at(-1)?.request).slice(-2), [/Here\.$/, 'user: y']);
});

t.test('keeps pending parts across a restart and stores them once', async (t) => {
  const troupe = await startTroupe(t, withTools());
  troupe.models.steps.push(asks(['c1', 'report']), hangs('lost'));
  const stream = await troupe.run(say('steps', 'x', 'T'));
  await stream.until('activity_snapshot');
  await stream.until('text_delta');
  troupe.models.steps.push(says('Here.'));
  await troupe.restart();
  const content = await eventually(
    async () => (await contentOf(troupe, 'T')).at(-1),
    (blocks) => blocks?.some((block) => block.type === 'text' && block.text === 'Here.') === true,
  );
  t.strictSame(content, STORED);
  troupe.models.steps.push(says('Nothing more.'));
  await troupe.runToEnd(say('steps', 'y', 'T'));
  t.strictSame((await contentOf(troupe, 'T')).at(-1), [{ type: 'text', text: 'Nothing more.' }]);
});

t.test('stores the parts of a suspended call in the message that follows the decision', async (t) => {
  const careful = defineTool({
    id: 'careful',
    description: 'Makes a part when somebody allows it.',
    input: z.object({}),
    needsApproval: true,
    execute: () => ({ data: 'made', parts: [DATA] }),
  });
  const troupe = await startTroupe(t, { app: { tools: [...TOOLS, careful] } });
  troupe.models.steps.push(asks(['c1', 'report'], ['c2', 'careful']));
  await troupe.runToEnd(say('steps', 'x', 'T'));
  await troupe.restart();
  troupe.models.steps.push(says('Both.'));
  const path = '/v1/threads/T/decision';
  t.equal((await troupe.post(path, { toolCallId: 'c2', action: 'resume' })).status, 202);
  const content = await eventually(
    async () => (await contentOf(troupe, 'T')).at(-1),
    (blocks) => blocks?.at(-1)?.type === 'text' && blocks.length > 1,
  );
  t.strictSame(content, [...STORED.slice(0, 3), STORED[2], { type: 'text', text: 'Both.' }]);
});

t.test('stores pending parts as the last message when no completion follows', async (t) => {
  const guard = definePlugin({
    id: 'guard',
    create: () => ({
      gate: ({ name }) =>
        name === 'echo_tool' ? { kind: 'block', reason: 'not this one' } : { kind: 'proceed' },
    }),
  });
  const troupe = await startTroupe(t, {
    app: {
      tools: [...TOOLS, making('echo_tool', [])],
      plugins: [guard],
      records: entriesFrom({ agents: [{ id: 'own', model_id: 'steps', plugin_ids: ['guard'] }] }),
    },
  });
  troupe.models.steps.push(asks(['c1', 'report'], ['c2', 'echo_tool']));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(endOf(events), { termination: { type: 'blocked' } });
  t.strictSame((await contentOf(troupe, 'T')).at(-1), STORED.slice(0, 3));
});

t.test('discards the parts of a failed or cancelled run', async (t) => {
  const troupe = await startTroupe(t, withTools());
  troupe.models.steps.push(asks(['c1', 'report']), hangs('lost'));
  const stream = await troupe.run(say('steps', 'x', 'T'));
  await stream.until('text_delta');
  await troupe.post('/v1/threads/T/cancel');
  t.match((await stream.rest()).at(-1), { termination: { type: 'cancelled' } });
  troupe.models.steps.push(asks(['c2', 'report']), () => {
    throw new ModelError('invalid_request', 'no');
  });
  t.match(endOf(await troupe.runToEnd(say('steps', 'y', 'T'))), { termination: { type: 'error' } });
  troupe.models.steps.push(says('Next.'));
  await troupe.runToEnd(say('steps', 'z', 'T'));
  t.strictSame(await contentOf(troupe, 'T'), [[], [], [{ type: 'text', text: 'Next.' }]]);
});

t.test('fails a tool call that returns a file of 50 MB, with a reason', async (t) => {
  const huge: AnswerPart = { file: Buffer.alloc(50_000_000), media_type: 'video/mp4', filename: 'v.mp4' };
  const troupe = await startTroupe(t, { app: { tools: [making('film', [huge])] } });
  troupe.models.steps.push(asks(['c1', 'film']), says('Too long.'));
  const events = await troupe.runToEnd(say('steps', 'x', 'T'));
  t.match(resultsIn(events), [
    { status: 'error', message: /the file 'v.mp4' has 50000000 bytes; .* at most 8388608/ },
  ]);
  t.strictSame((await contentOf(troupe, 'T')).at(-1), [{ type: 'text', text: 'Too long.' }]);
});

/** Streams text, a part and text. */
const drawing: Inference = (sink) => {
  sink.text('Look: ');
  sink.part?.({ file: 'iVBORw==', media_type: 'image/png' });
  sink.part?.({ data: [1] });
  sink.text(' nice.');
  return { stop: 'EndTurn' };
};

t.test('sends parts at their positions to chat clients, while streaming and after a reload', async (t) => {
  const chat = await startChat(t, withTools());
  chat.models.steps.push(asks(['c1', 'report']), drawing);
  const frames = await chat.say('steps', 'T', user('u1', 'hi'));
  const raw = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('');
  await chunksOf(raw);
  const { message, errors } = await play(raw);
  t.strictSame(errors, []);
  const shown = (message?.parts ?? []).flatMap((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'file') return part.url;
    return part.type === 'data-artifact' ? JSON.stringify(part.data) : [];
  });
  const expected = [
    CSV,
    'https://a.example/chart.png',
    '{"data":{"rows":2},"filename":"rows.json"}',
    'Look: ',
    'data:image/png;base64,iVBORw==',
    '{"data":[1]}',
    ' nice.',
  ];
  t.strictSame(shown, expected);
  const activities = (message?.parts ?? []).filter(({ type }) => type === 'data-activity-snapshot');
  t.match(activities, [{ data: { content: { url: 'https://a.example/chart.png' } } }]);
  t.equal(activities.length, 1, 'the bytes are stored once');

  const { messages } = await chat.history('T');
  t.ok((await safeValidateUIMessages({ messages })).success);
  t.strictSame(messages.at(-1)?.parts, [
    { type: 'file', mediaType: 'text/csv', url: CSV, filename: 'table.csv' },
    { type: 'file', mediaType: 'image/*', url: 'https://a.example/chart.png' },
    {
      type: 'data-artifact',
      id: `${messages.at(-1)?.id}:2`,
      data: { data: { rows: 2 }, filename: 'rows.json' },
    },
    { type: 'text', text: 'Look: ' },
    { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,iVBORw==' },
    { type: 'data-artifact', id: `${messages.at(-1)?.id}:5`, data: { data: [1] } },
    { type: 'text', text: ' nice.' },
  ]);
});

t.test('sends parts to AG-UI clients as activities, and as content blocks after a reload', async (t) => {
  const agUi = await startAgUi(t, withTools());
  agUi.models.steps.push(asks(['c1', 'report']), says('Here.'));
  const events = await agUi.ask({
    threadId: 'T',
    runId: 'r',
    messages: [agUiUser('u1', 'hi')],
    forwardedProps: { agentId: 'steps' },
    agentId: 'steps',
  });
  t.match(find(events, 'ACTIVITY_SNAPSHOT'), {
    activityType: 'file',
    content: { url: CSV, mediaType: 'text/csv', filename: 'table.csv' },
    replace: true,
  });
  t.equal(events.filter(({ type }) => type === 'ACTIVITY_SNAPSHOT').length, 3);
  t.strictSame((await agUi.items('T')).messages.at(-1)?.content, STORED);
});

t.test('adds parts to the artifact of an A2A task', async (t) => {
  const { troupe, send } = await a2aFor(t, withTools());
  troupe.models.steps.push(asks(['c1', 'report']), says('Here.'));
  const task = await send({ tenant: 'steps' });
  t.strictSame(task.artifacts?.[0]?.parts, [
    { raw: 'YSxi', mediaType: 'text/csv', filename: 'table.csv' },
    { url: 'https://a.example/chart.png', mediaType: 'image/png' },
    { data: { rows: 2 }, mediaType: 'application/json', filename: 'rows.json' },
    { text: 'Here.' },
  ]);
});

t.test('lets a plugin add parts to a completion', async (t) => {
  const spoken = definePlugin({
    id: 'spoken',
    create: () => ({
      hooks: { after_inference: ({ inference }) => ({ parts: [{ data: inference.text.length }] }) },
    }),
  });
  const troupe = await startTroupe(t, {
    app: {
      plugins: [spoken],
      records: entriesFrom({ agents: [{ id: 'own', model_id: 'steps', plugin_ids: ['spoken'] }] }),
    },
  });
  troupe.models.steps.push(says('Hello'));
  await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(await contentOf(troupe, 'T'), [[{ text: 'Hello' }, { text: '5' }]]);
});

t.test('emits the parts of a scripted model at the positions of its script', async (t) => {
  const troupe = await startTroupe(t, {
    app: {
      records: entriesFrom({
        providers: [
          {
            id: 'drawn',
            adapter: 'scripted',
            adapter_options: {
              script: {
                tokens: 2,
                text: 'x',
                parts: [
                  { after: 1, part: { url: 'https://a.example/a.png' } },
                  { after: 2, part: { data: { n: 1 } } },
                ],
              },
            },
          },
        ],
        models: [{ id: 'drawn', provider_id: 'drawn', upstream_model: 'drawn' }],
        agents: [{ id: 'own', model_id: 'drawn' }],
      }),
    },
  });
  await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(await contentOf(troupe, 'T'), [
    [{ text: 'x' }, { type: 'image' }, { text: 'x' }, { text: '{"n":1}', media_type: 'application/json' }],
  ]);
});
