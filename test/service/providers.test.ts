import t from 'tap';
import { z } from 'zod';
import { entriesFrom } from '../../src/settings.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { FORMATS, type Providers, type Reply, startProviders } from './provider-mocks.ts';
import { startTroupe, type Troupe } from './troupe.ts';

/**
 * Every wire format through the running service, against providers that reject what the real services reject. A scenario
 * is one row: the turns of one thread, each with the provider that answers it.
 */

type Turn = {
  /** The provider under test, or one of another format. */
  from: 'own' | 'other';
  /** A text, or the parts of a message of the chat protocol. */
  content: string | object[];
  replies: readonly Reply[];
  /** Text that the run streams. */
  streams: string;
};

type Scenario = {
  turns: readonly Turn[];
  /** Whether the last request of the format under test contains each of these texts. */
  sends?: readonly string[];
};

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const look = (id: string, q: string) => ({ id, name: 'look_up', args: { q } });

const roundsOf = (text: string): readonly Reply[] => [
  { kind: 'answer', thought: 'First.', text: 'Looking.', calls: [look('c1', 'a'), look('c2', 'b')] },
  { kind: 'answer', thought: 'Then.', text: '', calls: [look('c3', 'c'), look('c4', 'd')] },
  { kind: 'answer', text },
];

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'reasoning with two rounds of parallel tools': {
    turns: [{ from: 'own', content: 'Find.', replies: roundsOf('Found.'), streams: 'Found.' }],
    sends: ['found a', 'found b', 'found c', 'found d'],
  },
  'an image of the user': {
    turns: [
      {
        from: 'own',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${PNG}` },
        ],
        replies: [{ kind: 'answer', text: 'A dot.' }],
        streams: 'A dot.',
      },
    ],
    sends: [PNG],
  },
  'another provider in the middle of the thread': {
    turns: [
      { from: 'own', content: 'One.', replies: roundsOf('First.'), streams: 'First.' },
      { from: 'other', content: 'Two.', replies: roundsOf('Second.'), streams: 'Second.' },
      { from: 'own', content: 'Three.', replies: roundsOf('Third.'), streams: 'Third.' },
    ],
    sends: ['First.', 'Second.', 'found d'],
  },
  'a refusal': {
    turns: [
      {
        from: 'own',
        content: 'Do it.',
        replies: [{ kind: 'refusal', text: 'I cannot.' }],
        streams: 'I cannot.',
      },
      {
        from: 'own',
        content: 'Something else.',
        replies: [{ kind: 'answer', text: 'Done.' }],
        streams: 'Done.',
      },
    ],
  },
  'an overload': {
    turns: [
      {
        from: 'own',
        content: 'Hello.',
        replies: [{ kind: 'overload' }, { kind: 'answer', text: 'At last.' }],
        streams: 'At last.',
      },
    ],
  },
};

const lookUp = defineTool({
  id: 'look_up',
  description: 'Looks something up.',
  input: z.object({ q: z.string() }),
  execute: async ({ q }) => ({ data: `found ${q}` }),
});

/** A client of AG-UI declares tools with any schema. */
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

const start = async (t: Parameters<typeof startTroupe>[0], providers: Providers): Promise<Troupe> =>
  startTroupe(t, {
    app: {
      tools: [lookUp],
      records: entriesFrom({
        providers: names.map((id) => ({
          id,
          adapter: FORMATS[id]?.adapter ?? '',
          api_key: 'k',
          base_url: `${providers.url}/${id}/`,
        })),
        models: names.map((id) => ({ id, provider_id: id, upstream_model: FORMATS[id]?.upstream ?? '' })),
        agents: names.map((id) => ({
          id,
          model_id: id,
          max_rounds: 8,
          reasoning_effort: 'low',
          sections: {
            retry: {
              max_retries: 2,
              max_stream_retries: 2,
              backoff_base_ms: 1,
              overloaded_backoff_base_ms: 1,
            },
          },
        })),
      }),
    },
  });

/** The text that a run streams. */
const textOf = async (
  troupe: Troupe,
  { content }: Turn,
  agentId: string,
  threadId: string,
): Promise<string> => {
  if (typeof content === 'string') {
    const events = await troupe.runToEnd({ agentId, threadId, messages: [{ role: 'user', content }] });
    return events.map(({ event_type, delta }) => (event_type === 'text_delta' ? delta : '')).join('');
  }
  const messages = [{ id: 'm1', role: 'user', parts: content }];
  const { body } = await troupe.post('/v1/ai-sdk/chat', { agentId, threadId, messages });
  const deltas = String(body.text).matchAll(/"type":"text-delta",.*?"delta":("(?:[^"\\]|\\.)*")/g);
  return Array.from(deltas, ([, delta = '""']) => JSON.parse(delta)).join('');
};

for (const [at, format] of names.entries()) {
  t.test(format, async (t) => {
    const providers = await startProviders(t);
    const troupe = await start(t, providers);
    const other = names[(at + 1) % names.length] ?? format;
    for (const [what, { turns, sends = [] }] of Object.entries(SCENARIOS)) {
      await t.test(what, async (t) => {
        providers.requests.length = 0;
        for (const turn of turns) {
          const agentId = turn.from === 'own' ? format : other;
          providers.replies.set(agentId, [...turn.replies]);
          t.match(await textOf(troupe, turn, agentId, what), turn.streams);
          t.strictSame(providers.replies.get(agentId), [], 'each reply was asked for');
          const isRefused = turn.replies.some(({ kind }) => kind === 'refusal');
          const ends = isRefused ? FORMATS[agentId]?.refusalEnds : 'natural_end';
          const { body: run } = await troupe.call(
            'GET',
            `/v1/threads/${encodeURIComponent(what)}/runs/latest`,
          );
          t.match(run, { termination_reason: { type: ends } });
        }
        const rejected = providers.requests.filter((request) => request.rejected !== undefined);
        t.strictSame(rejected, []);
        const last = JSON.stringify(
          providers.requests.findLast((request) => request.format === format)?.body,
        );
        for (const text of sends) t.ok(last.includes(text), `sends ${text.slice(0, 20)}`);
        const isThought = turns.some(({ replies }) => replies.some((reply) => 'thought' in reply));
        t.equal(last.includes(FORMATS[format]?.returned ?? ''), isThought, 'returns its reasoning');
        const mixed = providers.requests.filter(({ format: asked, body }) =>
          names.some(
            (each) => each !== asked && JSON.stringify(body).includes(FORMATS[each]?.returned ?? ''),
          ),
        );
        t.strictSame(mixed, [], 'sends no reasoning to another provider');
      });
    }
    await t.test('tools of a client with names and schemas that no provider accepts', async (t) => {
      providers.replies.set(format, [{ kind: 'answer', text: 'Hi.' }]);
      const { status, body } = await troupe.post('/v1/ag-ui/run', {
        agentId: format,
        ...{ threadId: 'odd', runId: 'odd', state: {}, context: [], forwardedProps: { agentId: format } },
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
