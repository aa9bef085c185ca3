import t, { type Test } from 'tap';
import { z } from 'zod';
import { entriesFrom } from '../../src/settings/index.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { FORMATS, type Format, type Reply } from './provider-formats.ts';
import { markOf, marksIn, type Providers, type SentRequest, startProviders } from './provider-mocks.ts';
import { ADMIN_TOKEN, startTroupe, type Troupe } from './troupe.ts';

/**
 * Every wire format through the running service, against providers that reject the same requests as the real services.
 * A scenario is one row: the turns of one thread, with the replies of each provider.
 */

type Turn = {
  /** Default: `own`. */
  agent?: 'own' | 'other' | 'pooled' | 'edited' | 'native' | 'tool';
  /** The model of the edited agent from this turn on. */
  model?: 'own' | 'other';
  /** Whether the run overrides the model of its agent with another one of the same provider. */
  overridesModel?: boolean;
  /** A text, or the parts of a chat protocol message. */
  content: string | object[];
  /** Replies of the provider under test, and of the provider of another format. */
  replies: { own?: readonly Reply[]; other?: readonly Reply[] };
  /** The text that the run streams. */
  streams: string;
  /** The structured result of the run. */
  output?: object;
};

type Scenario = {
  turns: readonly Turn[];
  /** Texts in the last request to the format under test. */
  sends?: readonly string[];
  /** Whether the scenario requires a format with a field for the schema of a completion. */
  needsNative?: boolean;
};

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const look = (id: string, q: string) => ({ id, name: 'look_up', args: { q } });

const ROUNDS = [
  { kind: 'answer', thought: 'First.', text: 'Looking.', calls: [look('c1', 'a'), look('c2', 'b')] },
  { kind: 'answer', thought: 'Then.', text: '', calls: [look('c3', 'c'), look('c4', 'd')] },
] as const satisfies Reply[];

const says = (text: string): Reply => ({ kind: 'answer', text });

const roundsOf = (text: string): readonly Reply[] => [...ROUNDS, says(text)];

const OVERLOAD: Reply = { kind: 'overload' };

const SCHEMA = {
  type: 'object',
  properties: { count: { type: 'integer' } },
  required: ['count'],
  additionalProperties: false,
};

const gives = (id: string, args: Record<string, string | number>): Reply => ({
  kind: 'answer',
  thought: 'Done.',
  text: '',
  calls: [{ id, name: 'final_answer', args }],
});

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'reasoning with two rounds of parallel tools': {
    turns: [{ content: 'Find.', replies: { own: roundsOf('Found.') }, streams: 'Found.' }],
    sends: ['found a', 'found b', 'found c', 'found d'],
  },
  'an image of the user': {
    turns: [
      {
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${PNG}` },
        ],
        replies: { own: [says('A dot.')] },
        streams: 'A dot.',
      },
    ],
    sends: [PNG],
  },
  'an image of a tool, and a question about it': {
    turns: [
      {
        content: 'Look.',
        replies: {
          own: [
            {
              ...{ kind: 'answer', thought: 'First.', text: '' },
              calls: [{ id: 'c1', name: 'camera', args: {} }, look('c2', 'a')],
            },
            says('A dot.'),
          ],
        },
        streams: 'A dot.',
      },
      { content: 'Of which color?', replies: { own: [says('Red.')] }, streams: 'Red.' },
    ],
    sends: [PNG, 'taken', 'found a', 'A dot.'],
  },
  'another agent in the middle of the thread': {
    turns: [
      { content: 'One.', replies: { own: roundsOf('First.') }, streams: 'First.' },
      { agent: 'other', content: 'Two.', replies: { other: roundsOf('Second.') }, streams: 'Second.' },
      { content: 'Three.', replies: { own: roundsOf('Third.') }, streams: 'Third.' },
    ],
    sends: ['First.', 'Second.', 'found d'],
  },
  'a pool that leaves the provider between two rounds': {
    turns: [
      {
        agent: 'pooled',
        content: 'One.',
        replies: { own: [ROUNDS[0], OVERLOAD], other: [ROUNDS[1], says('First.')] },
        streams: 'First.',
      },
      { agent: 'pooled', content: 'Two.', replies: { other: roundsOf('Second.') }, streams: 'Second.' },
      { content: 'Three.', replies: { own: roundsOf('Third.') }, streams: 'Third.' },
    ],
    sends: ['First.', 'Second.', 'found d'],
  },
  'another model of the provider for one run': {
    turns: [
      { content: 'One.', replies: { own: roundsOf('First.') }, streams: 'First.' },
      { overridesModel: true, content: 'Two.', replies: { own: roundsOf('Second.') }, streams: 'Second.' },
      { content: 'Three.', replies: { own: roundsOf('Third.') }, streams: 'Third.' },
    ],
    sends: ['First.', 'Second.', 'found d'],
  },
  'an agent whose model is edited between its turns': {
    turns: [
      { agent: 'edited', model: 'own', content: 'One.', replies: { own: roundsOf('1.') }, streams: '1.' },
      { agent: 'edited', model: 'other', content: 'Two.', replies: { other: roundsOf('2.') }, streams: '2.' },
      { agent: 'edited', model: 'own', content: 'Three.', replies: { own: roundsOf('3.') }, streams: '3.' },
    ],
    sends: ['1.', '2.', 'found d'],
  },
  'a structured result as the text of the answer': {
    needsNative: true,
    turns: [
      {
        agent: 'native',
        content: 'Count.',
        replies: { own: [says('{"count":"many"}'), says('{"count":3}')] },
        streams: '{"count":3}',
        output: { count: 3 },
      },
    ],
  },
  'a structured result as a call, after a call of a tool and a repair': {
    turns: [
      {
        agent: 'tool',
        content: 'Count.',
        replies: { own: [ROUNDS[0], gives('f1', { count: 'many' }), gives('f2', { count: 3 })] },
        streams: '{"count":3}',
        output: { count: 3 },
      },
      { content: 'Are you sure?', replies: { own: [says('Yes.')] }, streams: 'Yes.' },
    ],
    sends: ['found a', '{\\"count\\":3}', 'Are you sure?'],
  },
  'a refusal': {
    turns: [
      {
        content: 'Do it.',
        replies: { own: [{ kind: 'refusal', text: 'I cannot.' }] },
        streams: 'I cannot.',
      },
      { content: 'Something else.', replies: { own: [says('Done.')] }, streams: 'Done.' },
    ],
  },
  'an overload': {
    turns: [{ content: 'Hello.', replies: { own: [OVERLOAD, says('At last.')] }, streams: 'At last.' }],
  },
};

const lookUp = defineTool({
  id: 'look_up',
  description: 'Looks something up.',
  input: z.object({ q: z.string() }),
  execute: async ({ q }) => ({ data: `found ${q}` }),
});

const camera = defineTool({
  id: 'camera',
  description: 'Takes a picture.',
  input: z.object({}),
  execute: () => ({
    data: null,
    content: [
      { type: 'text', text: 'taken' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    ],
  }),
});

/** An AG-UI client may declare tools with any schema. */
const ODD_TOOLS = [
  { name: 'odd.tool', description: 'half \ud83d', parameters: { type: 'string' } },
  {
    name: 'odd tool',
    description: '',
    parameters: {
      type: 'object',
      properties: { 'filter[id]': { type: 'date', required: true }, list: { type: 'array' } },
      required: 'all',
    },
  },
];

const names = Object.keys(FORMATS);

const formatOf = (name: string): Format => {
  const format = FORMATS[name];
  if (!format) throw new Error(`no format ${name}`);
  return format;
};

/** The other format in the scenarios of a format. */
const otherOf = (name: string): string => names[(names.indexOf(name) + 1) % names.length] ?? name;

const SETTINGS = {
  max_rounds: 8,
  reasoning_effort: 'low',
  sections: {
    retry: { max_retries: 2, max_stream_retries: 2, backoff_base_ms: 1, overloaded_backoff_base_ms: 1 },
  },
} as const;

const modelOf = (provider_id: string, upstream_model: string) => ({
  id: provider_id,
  provider_id,
  upstream_model,
  modalities: { input: ['text' as const, 'image' as const] },
});

/** Provider, model, pool and agents of a format. */
const recordsOf = (name: string, url: string) => {
  const { adapter, upstream, adapter_options, native } = formatOf(name);
  const access = { api_key: 'k', base_url: `${url}/${name}/` };
  const nativeId = `${name}-native`;
  const result = { ...SETTINGS, output_schema: SCHEMA };
  return {
    providers: [
      { id: name, adapter, ...access, ...(adapter_options && { adapter_options }) },
      ...(native
        ? [
            {
              ...{ id: nativeId, adapter: native.adapter, ...access },
              ...(native.adapter_options && { adapter_options: native.adapter_options }),
            },
          ]
        : []),
    ],
    models: [modelOf(name, upstream), ...(native ? [modelOf(nativeId, native.upstream)] : [])],
    model_pools: [
      {
        id: `${name}-pool`,
        members: [{ model_id: name }, { model_id: otherOf(name), role: 'failover_only' as const }],
        routing: { home: 'first_healthy' as const },
      },
    ],
    agents: [
      { ...SETTINGS, id: name, model_id: name },
      { ...SETTINGS, id: `${name}-pooled`, model_id: `${name}-pool` },
      { ...result, id: `${name}-tool`, model_id: name, output_options: { mode: 'tool' as const } },
      ...(native
        ? [
            {
              ...{ ...result, id: nativeId, model_id: nativeId, allowed_tools: [] },
              output_options: { mode: 'native' as const },
            },
          ]
        : []),
    ],
  };
};

const start = (t: Test, { url }: Providers): Promise<Troupe> => {
  const records = names.map((name) => recordsOf(name, url));
  return startTroupe(t, {
    app: {
      tools: [lookUp, camera],
      records: entriesFrom({
        providers: records.flatMap(({ providers }) => providers),
        models: records.flatMap(({ models }) => models),
        model_pools: records.flatMap(({ model_pools }) => model_pools),
        agents: records.flatMap(({ agents }) => agents),
      }),
    },
  });
};

/** The text that a reader keeps after an event of the stream. */
const keptOf = (text: string, { type, delta }: { type: unknown; delta?: unknown }): string => {
  if (type === 'stream_reset') return '';
  return type === 'text_delta' ? text + String(delta) : text;
};

/** The text that a run streams. */
const textOf = async (
  troupe: Troupe,
  { content }: Turn,
  { agentId, threadId, ...more }: { agentId: string; threadId: string; overrides?: object },
): Promise<string> => {
  if (typeof content === 'string') {
    const messages = [{ role: 'user', content }];
    const events = await troupe.runToEnd({ agentId, threadId, messages, ...more });
    return events.reduce((text, { event_type: type, delta }) => keptOf(text, { type, delta }), '');
  }
  const messages = [{ id: 'm1', role: 'user', parts: content }];
  const { body } = await troupe.post('/v1/ai-sdk/chat', { agentId, threadId, messages });
  const deltas = String(body.text).matchAll(/"type":"text-delta",.*?"delta":("(?:[^"\\]|\\.)*")/g);
  return Array.from(deltas, ([, delta = '""']) => JSON.parse(delta)).join('');
};

const agentOf = (name: string, { agent = 'own' }: Turn): string => {
  if (agent === 'own') return name;
  return agent === 'other' ? otherOf(name) : `${name}-${agent}`;
};

/** Runs a turn, and checks its text, its end, and that every reply was requested. */
const runTurn = async (
  t: Test,
  { troupe, providers, name }: Setting,
  turn: Turn,
  threadId: string,
): Promise<void> => {
  const agentId = agentOf(name, turn);
  if (turn.model) {
    const model_id = turn.model === 'own' ? name : otherOf(name);
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const spec = { ...SETTINGS, id: agentId, model_id };
    const { status, body } = await troupe.call('PUT', `/v1/config/agents/${agentId}`, spec, headers);
    t.equal(status, 200, JSON.stringify(body));
  }
  const { own = [], other = [] } = turn.replies;
  providers.replies.set(name, [...own]);
  providers.replies.set(otherOf(name), [...other]);
  const overrides = turn.overridesModel && { overrides: { upstream_model: formatOf(name).otherUpstream } };
  t.match(await textOf(troupe, turn, { agentId, threadId, ...overrides }), turn.streams);
  t.strictSame([...providers.replies.values()].flat(), [], 'each reply was requested');
  const isRefused = own.some(({ kind }) => kind === 'refusal');
  const type = isRefused ? formatOf(name).refusalEnds : 'natural_end';
  const { body } = await troupe.call('GET', `/v1/threads/${encodeURIComponent(threadId)}/runs/latest`);
  t.match(body, { termination_reason: { type } });
  t.strictSame(body.structured_output, turn.output);
};

type Setting = { troupe: Troupe; providers: Providers; name: string };

/** Checks that every service accepted its requests, and received only the reasoning of the requested model. */
const checkRequests = (t: Test, requests: readonly SentRequest[]): void => {
  t.strictSame(
    requests.filter(({ rejected }) => rejected !== undefined),
    [],
    'each request is accepted',
  );
  t.strictSame(
    requests.filter((request) => marksIn(request).some((mark) => mark !== markOf(request))),
    [],
    'no reasoning of another model is sent',
  );
};

const runScenario = async (
  t: Test,
  setting: Setting,
  { turns, sends = [] }: Scenario,
  threadId: string,
): Promise<void> => {
  const { providers, name } = setting;
  const { upstream, returnsReasoning, native } = formatOf(name);
  providers.requests.length = 0;
  providers.replies.clear();
  for (const turn of turns) await runTurn(t, setting, turn, threadId);
  checkRequests(t, providers.requests);
  const last = providers.requests.findLast(({ format }) => format === name);
  const body = JSON.stringify(last?.body);
  for (const text of sends) t.ok(body.includes(text), `sends ${text.slice(0, 20)}`);
  const marks =
    returnsReasoning && turns.some(({ replies: { own = [] } }) => own.some((reply) => 'thought' in reply))
      ? [markOf({ format: name, model: upstream })]
      : [];
  t.strictSame(last && marksIn(last), marks, 'the reasoning is returned to its model');
  for (const turn of turns.filter(({ output }) => output)) {
    const isNative = turn.agent === 'native';
    const first = JSON.stringify(providers.requests[0]?.body);
    t.equal(first.includes('final_answer'), !isNative);
    t.equal(native !== undefined && first.includes(native.sends), isNative);
  }
};

for (const name of names) {
  t.test(name, async (t) => {
    const providers = await startProviders(t);
    const troupe = await start(t, providers);
    for (const [what, scenario] of Object.entries(SCENARIOS)) {
      if (scenario.needsNative && !formatOf(name).native) continue;
      await t.test(what, (t) => runScenario(t, { troupe, providers, name }, scenario, what));
    }
    await t.test('accepts client tools with names and schemas that every provider rejects', async (t) => {
      providers.replies.set(name, [says('Hi.')]);
      const { status, body } = await troupe.post('/v1/ag-ui/run', {
        agentId: name,
        ...{ threadId: 'odd', runId: 'odd', state: {}, context: [], forwardedProps: { agentId: name } },
        messages: [{ id: 'm1', role: 'user', content: 'Hello' }],
        tools: ODD_TOOLS,
      });
      t.equal(status, 200, JSON.stringify(body));
      t.match(JSON.stringify(body), /Hi\./);
      t.equal(providers.requests.at(-1)?.rejected, undefined);
      t.match(JSON.stringify(providers.requests.at(-1)?.body), /odd_tool__/);
    });
  });
}
