import { lastAssistantMessageIsCompleteWithToolCalls, safeValidateUIMessages } from 'ai';
import t from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import type { InferenceSource } from '../../src/models/model.ts';
import { giveAnswer } from '../../src/models/scripted-answer.ts';
import type { ContentBlock } from '../../src/schema/message.ts';
import type { ProviderCall, ProviderTool } from '../../src/schema/provider-tool.ts';
import { entriesFrom } from '../../src/settings/index.ts';
import { chunksOf, play } from '../protocols/ai-sdk/client.ts';
import { a2aFor } from './a2a/tasks-client.ts';
import { user as agUiUser, startAgUi } from './ag-ui/ag-ui.ts';
import { endOf, only, say, says } from './agent-loop/agents.ts';
import { startChat, user } from './chat/chat.ts';
import { mcpClient } from './mcp/mcp.ts';
import { hangs, type Inference } from './models.ts';
import { ADMIN_TOKEN, eventually, type RunEventLike, startTroupe, type Troupe } from './troupe.ts';

/** Calls of tools that the model provider executes, as every client receives them: live and afterwards. */

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

const call: ProviderCall = { id: 'srv_1', tool: 'web_search', status: 'running' };
const INPUT = { queries: ['weather'] };
const OUTPUT = { results: [{ url: 'https://a.example', title: 'A' }] };
const SEARCH: ProviderCall[] = [
  call,
  { ...call, input: INPUT },
  { ...call, status: 'completed', output: OUTPUT },
];
const PAGE: InferenceSource = { type: 'url', id: 's1', url: 'https://a.example', title: 'A' };
const DOCUMENT: InferenceSource = { type: 'document', id: 'd1', media_type: 'text/plain', title: 'a.txt' };

const searches: Inference = (sink) =>
  giveAnswer({ providerCalls: SEARCH, text: 'Sunny.', sources: [PAGE, PAGE, DOCUMENT] }, sink);

const contentOf = async (troupe: Pick<Troupe, 'call'>, threadId: string): Promise<ContentBlock[][]> => {
  const { body } = await troupe.call('GET', `/v1/threads/${threadId}/messages`);
  // The response type that the route declares.
  const { messages } = body as { messages: { role: string; content: ContentBlock[] }[] };
  return messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
};

const STORED = [
  { type: 'provider_call', tool: 'web_search', status: 'completed', input: INPUT, output: OUTPUT },
  { type: 'text', text: 'Sunny.' },
  { type: 'source_url', id: 's1', url: 'https://a.example', title: 'A' },
  { type: 'source_document', id: 'd1', media_type: 'text/plain', title: 'a.txt' },
];

const callsIn = (events: readonly RunEventLike[]): RunEventLike[] =>
  only(events, 'activity_snapshot').filter(({ activity_type }) => activity_type === 'provider-call');

t.test('reports each change of a call as an activity, and stores the call in the message', async (t) => {
  const troupe = await startTroupe(t);
  troupe.models.steps.push(searches, says('Again.'));
  const events = await troupe.runToEnd(say('steps', 'x', 'T'));
  const calls = callsIn(events);
  t.match(
    calls.map(({ content }) => content),
    [
      { tool: 'web_search', status: 'running', input: undefined },
      { tool: 'web_search', status: 'running', input: INPUT },
      { tool: 'web_search', status: 'completed', input: INPUT, output: OUTPUT },
    ],
  );
  t.equal(new Set(calls.map(({ message_id }) => message_id)).size, 1);
  t.strictSame(
    only(events, 'activity_snapshot')
      .map(({ activity_type }) => activity_type)
      .slice(3),
    ['source-url', 'source-document'],
    'the same source is reported once',
  );
  t.notOk(events.some(({ event_type }) => event_type.startsWith('tool_call')));
  t.match(await contentOf(troupe, 'T'), [STORED]);
  await troupe.restart();
  await troupe.runToEnd(say('steps', 'y', 'T'));
  t.match((await contentOf(troupe, 'T'))[0], STORED);
});

t.test('offers the provider tools of the agent to its model, and rejects invalid options', async (t) => {
  const provider_tools: ProviderTool[] = [
    { type: 'web_search', allowed_domains: ['example.com'], max_uses: 2 },
  ];
  const troupe = await startTroupe(t, {
    app: { records: entriesFrom({ agents: [{ id: 'own', model_id: 'steps', provider_tools }] }) },
  });
  troupe.models.steps.push(says('Hi'));
  await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(troupe.models.requests.at(-1)?.request, { provider_tools });
  const rows: [tools: unknown, problem: RegExp][] = [
    [[{ type: 'image' }], /provider_tools.*type/],
    [[{ type: 'web_search' }, { type: 'web_search' }], /'web_search' is listed twice/],
    [
      [{ type: 'web_search', allowed_domains: ['https://a.example'] }],
      /must be a domain with an optional path/,
    ],
    [[{ type: 'web_search', allowed_domains: [] }], /must name at least one domain/],
    [
      [{ type: 'web_fetch', allowed_domains: ['a.example'], blocked_domains: ['b.example'] }],
      /only one of them is allowed/,
    ],
    [[{ type: 'file_search', store_ids: [] }], /must name at least one store/],
    [[{ type: 'web_search', max_uses: 0 }], /max_uses/],
    [[{ type: 'web_search', user_location: { country: 'Germany' } }], /two capital letters/],
    [[{ type: 'code_execution', memory: 1 }], /memory/],
  ];
  for (const [tools, problem] of rows) {
    const spec = { id: 'wrong', model_id: 'steps', provider_tools: tools };
    const answer = await troupe.call('POST', '/v1/config/agents', spec, ADMIN);
    t.equal(answer.status, 400, JSON.stringify(tools));
    t.match(JSON.stringify(answer.body), problem);
  }
});

t.test('reports tools that a model does not execute, for each member of a pool', async (t) => {
  const model = (id: string, upstream_model: string) => ({ id, provider_id: id, upstream_model });
  const troupe = await startTroupe(t, {
    app: {
      records: entriesFrom({
        providers: [
          { id: 'a', adapter: 'anthropic', api_key: 'k' },
          { id: 'g', adapter: 'gemini', api_key: 'k' },
          { id: 'd', adapter: 'deepseek', api_key: 'k' },
        ],
        models: [model('a', 'claude-sonnet-4-5'), model('g', 'gemini-2.5-pro'), model('d', 'deepseek-chat')],
        model_pools: [{ id: 'pool', members: ['a', 'g', 'd'].map((model_id) => ({ model_id })) }],
        agents: [
          {
            id: 'own',
            model_id: 'pool',
            allowed_tools: [],
            provider_tools: [{ type: 'web_search', allowed_domains: ['example.com'] }],
          },
          { id: 'mixed', model_id: 'g', provider_tools: [{ type: 'web_search' }], delegates: ['own'] },
        ],
      }),
    },
  });
  const { body } = await troupe.admin('GET', '/v1/config/diagnostics');
  const messages = (body.diagnostics as { code: string; message: string }[])
    .filter(({ code }) => code === 'agent_provider_tool_left_out')
    .map(({ message }) => message);
  t.strictSame(messages, [
    "agent 'own' is not offered the provider tool 'web_search': adapter 'gemini' cannot apply allowed_domains to web_search (model entry 'g')",
    "agent 'own' is not offered the provider tool 'web_search': adapter 'deepseek' has no web_search (model entry 'd')",
    "agent 'mixed' is not offered the provider tool 'web_search': model 'gemini-2.5-pro' has no provider tools in a request with tools of the service (model entry 'g')",
  ]);
});

const SHOWN = [
  { type: 'text', text: 'Sunny.' },
  { type: 'source-url', sourceId: 's1', url: 'https://a.example', title: 'A' },
  { type: 'source-document', sourceId: 'd1', mediaType: 'text/plain', title: 'a.txt' },
];

t.test('the chat client receives the call as a provider tool, and never submits a result', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(searches, says('Still sunny.'));
  const frames = await chat.say('steps', 'T', user('u1', 'hi'));
  const raw = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('');
  await chunksOf(raw);
  const { message, errors } = await play(raw);
  t.strictSame(errors, []);
  const expected = {
    type: 'tool-web_search',
    state: 'output-available',
    input: INPUT,
    output: OUTPUT,
    providerExecuted: true,
    callProviderMetadata: { troupe: { executedBy: 'provider' } },
  };
  const parts = message?.parts ?? [];
  const shown = parts.filter(({ type }) => /^(tool|text|source)/.test(type));
  t.match(shown, [expected, ...SHOWN]);
  t.equal(
    parts.filter(
      (part) => part.type === 'data-activity-snapshot' && JSON.stringify(part).includes('web_search'),
    ).length,
    0,
    'the content of the part is stored once',
  );
  const { messages } = await chat.history('T');
  t.ok((await safeValidateUIMessages({ messages })).success);
  t.match(messages.at(-1)?.parts, [expected, ...SHOWN]);
  t.notOk(message && lastAssistantMessageIsCompleteWithToolCalls({ messages: [message] }));
});

t.test('a reset retracts calls on every surface, and the next attempt has its own', async (t) => {
  const chat = await startChat(t);
  const reset: Inference = (sink) => {
    for (const each of SEARCH) sink.providerCall?.(each);
    sink.providerCall?.({ id: 'srv_2', tool: 'code_execution', status: 'running' });
    sink.source?.(PAGE);
    sink.reset?.('connection reset');
    return searches(
      sink,
      { system: [], messages: [], tools: [], overrides: {} },
      new AbortController().signal,
    );
  };
  chat.models.steps.push(reset, reset);
  const events = await chat.runToEnd(say('steps', 'x', 'T'));
  const last = new Map(callsIn(events).map(({ message_id, content }) => [message_id, content]));
  t.match(
    [...last.values()],
    [
      { tool: 'web_search', status: 'failed', error: 'taken back: connection reset' },
      { tool: 'code_execution', status: 'failed' },
      { tool: 'web_search', status: 'completed' },
    ],
  );
  t.match(await contentOf(chat, 'T'), [STORED]);
  t.equal((await contentOf(chat, 'T'))[0]?.length, STORED.length);

  const frames = await chat.say('steps', 'T2', user('u1', 'hi'));
  const { message } = await play(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''));
  t.match(
    (message?.parts ?? []).filter(({ type }) => type.startsWith('tool-')),
    [
      { type: 'tool-web_search', state: 'output-error', errorText: 'taken back: connection reset' },
      { type: 'tool-code_execution', state: 'output-error' },
      { type: 'tool-web_search', state: 'output-available' },
    ],
  );
});

t.test('a failed attempt of the run retracts its calls', async (t) => {
  const troupe = await startTroupe(t);
  troupe.models.steps.push(
    (sink) => giveAnswer({ providerCalls: SEARCH, fails: new ModelError('provider', 'broke') }, sink),
    searches,
  );
  const events = await troupe.runToEnd(say('steps', 'x', 'T'));
  const last = new Map(callsIn(events).map(({ message_id, content }) => [message_id, content]));
  t.match([...last.values()], [{ status: 'failed', error: /^taken back/ }, { status: 'completed' }]);
  t.match(endOf(events), { result: { response: 'Sunny.' } });
});

t.test('fails a call that is open when its run is cancelled or the completion ends', async (t) => {
  const troupe = await startTroupe(t);
  const hanging = hangs('Hm');
  troupe.models.steps.push((sink, ...more) => {
    sink.providerCall?.({ ...call, input: INPUT });
    return hanging(sink, ...more);
  });
  const stream = await troupe.run(say('steps', 'x', 'T'));
  await stream.until('text_delta');
  await troupe.post('/v1/threads/T/cancel');
  const rest = await stream.rest();
  t.match(callsIn(rest).at(-1)?.content, { status: 'failed', error: 'the completion was cut off' });
  troupe.models.steps.push((sink) => giveAnswer({ providerCalls: [call], text: 'x', stop: 'EndTurn' }, sink));
  const events = await troupe.runToEnd(say('steps', 'y', 'T2'));
  t.match(callsIn(events).at(-1)?.content, { status: 'failed', error: /ended before the call/ });
});

t.test('restarts the completion after a process ends during a call', async (t) => {
  const troupe = await startTroupe(t);
  const hanging = hangs('lost');
  troupe.models.steps.push((sink, ...more) => {
    sink.providerCall?.(call);
    return hanging(sink, ...more);
  }, searches);
  const stream = await troupe.run(say('steps', 'x', 'T'));
  await stream.until('text_delta');
  await troupe.restart();
  const content = await eventually(
    async () => (await contentOf(troupe, 'T')).at(-1),
    (blocks) => blocks?.some((block) => block.type === 'text' && block.text === 'Sunny.') === true,
  );
  t.match(content, STORED);
});

t.test('AG-UI clients receive the call as a changing activity, and the blocks after a reload', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push(searches);
  const events = await agUi.ask({
    threadId: 'T',
    runId: 'r',
    messages: [agUiUser('u1', 'hi')],
    forwardedProps: { agentId: 'steps' },
    agentId: 'steps',
  });
  const snapshots = events.filter(
    (event) => event.type === 'ACTIVITY_SNAPSHOT' && event.activityType === 'provider-call',
  );
  t.match(snapshots.at(-1), { content: { status: 'completed', output: OUTPUT }, replace: true });
  t.notOk(events.some(({ type }) => type === 'TOOL_CALL_START'));
  t.match((await agUi.items('T')).messages.at(-1)?.content, STORED);
});

t.test('an A2A artifact contains calls and sources as metadata', async (t) => {
  const { troupe, send } = await a2aFor(t);
  troupe.models.steps.push(searches);
  const task = await send({ tenant: 'steps' });
  t.strictSame(task.artifacts?.[0]?.parts, [{ text: 'Sunny.' }]);
  t.match(task.artifacts?.[0], {
    metadata: {
      providerCalls: [{ tool: 'web_search', status: 'completed', input: INPUT, output: OUTPUT }],
      sources: [{ type: 'source_url', url: 'https://a.example' }, { type: 'source_document' }],
    },
  });
});

t.test('an MCP result contains calls and sources as metadata', async (t) => {
  const { url, models } = await startTroupe(t);
  models.steps.push(searches);
  const session = await mcpClient(() => url).open();
  const { answer } = await session.callToEnd('steps', { message: 'Hello' });
  t.match(answer.result, {
    content: [{ type: 'text', text: 'Sunny.' }],
    _meta: {
      'troupe/provider_calls': [{ tool: 'web_search', status: 'completed', output: OUTPUT }],
      'troupe/sources': [{ url: 'https://a.example' }, { title: 'a.txt' }],
    },
  });
});
