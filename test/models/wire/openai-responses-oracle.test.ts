import { isDeepStrictEqual } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import t from 'tap';
import { toBrokenStream, toModelError } from '../../../src/models/classify.ts';
import { ModelError } from '../../../src/models/errors.ts';
import type { InferenceEnd, InferenceSource } from '../../../src/models/model.ts';
import { createPartReceiver } from '../../../src/models/stream-parts.ts';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import fc from '../../random.ts';
import { type Heard, joined, recordingSink } from '../infer.ts';
import { decode, unnamed } from './decode.ts';
import { type Event, mutated, mutations, stream } from './responses-streams.ts';

/** The decoder and the package `@ai-sdk/openai` read the same streams, and agree on all but the rows below. */

const RUNS = Number(process.env.TROUPE_ORACLE_RUNS ?? 600);

const wire = openaiResponsesWire();

type Outcome = {
  text: string;
  reasoning: string;
  encrypted: string[];
  /** Name and arguments of the calls that ended, in order. */
  calls: string[];
  sources: string[];
  usage: unknown;
  /** The stop reason, or the class of the failure. */
  stop: string;
};

type Result = {
  heard: Heard[];
  sources: InferenceSource[];
  end?: InferenceEnd | undefined;
  error?: ModelError | undefined;
};

const outcomeOf = ({ heard, sources, end, error }: Result): Outcome => {
  const names = new Map(heard.map(([kind, id, name]) => [kind === 'start' ? id : '', name]));
  return {
    text: joined(heard, 'text'),
    reasoning: joined(heard, 'reasoning'),
    encrypted: heard.flatMap(([kind, value]) => (kind === 'encrypted' ? [value] : [])),
    calls: heard.flatMap(([kind, id, args]) => (kind === 'end' ? [`${id} ${names.get(id)} ${args}`] : [])),
    sources: sources.map(({ id: _, ...source }) => JSON.stringify(source)),
    usage: end?.usage,
    stop: end?.stop ?? error?.class ?? 'nothing',
  };
};

const ours = (events: readonly Event[]): Outcome => outcomeOf(decode(wire, unnamed(events)));

const TOOLS = [
  {
    type: 'function' as const,
    name: 'search',
    description: 'Finds.',
    inputSchema: { type: 'object' as const },
  },
];

type Read = { parts: LanguageModelV3StreamPart[]; thrown?: unknown };

const readWithPackage = async (events: readonly Event[]): Promise<Read> => {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const parts: LanguageModelV3StreamPart[] = [];
  try {
    const { stream } = await createOpenAI({ apiKey: 'key', fetch })
      .responses('gpt-5')
      .doStream({
        prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
        tools: TOOLS,
        providerOptions: { openai: { store: false } },
        includeRawChunks: true,
      });
    for await (const part of stream) parts.push(part);
    return { parts };
  } catch (thrown) {
    return { parts, thrown };
  }
};

/** Which of the events the package cannot read: it reports them as errors, or crashes. */
const unreadable = ({ parts, thrown }: Read): Set<number> => {
  const found = new Set<number>();
  let index = -1;
  for (const part of parts) {
    if (part.type === 'raw') index += 1;
    if (part.type === 'error' && part.error instanceof Error) found.add(index);
  }
  if (thrown instanceof TypeError) found.add(index);
  return found;
};

/** The events that the package can read, and what it makes of them. */
const theirs = async (events: readonly Event[]): Promise<{ fit: readonly Event[]; outcome: Outcome }> => {
  const read = await readWithPackage(events);
  const unfit = unreadable(read);
  if (unfit.size > 0) return theirs(events.filter((_, index) => !unfit.has(index)));
  const heard: Heard[] = [];
  const sources: InferenceSource[] = [];
  const receive = createPartReceiver({ ...recordingSink(heard), source: (source) => sources.push(source) });
  let end: InferenceEnd | undefined;
  let error: ModelError | undefined;
  try {
    for (const part of read.parts) end ??= receive(part);
    if (read.thrown !== undefined)
      throw read.parts.length === 0 ? toModelError(read.thrown) : toBrokenStream(read.thrown);
  } catch (thrown) {
    if (!(thrown instanceof ModelError)) throw thrown;
    error = thrown;
  }
  return { fit: events, outcome: outcomeOf({ heard, sources, end, error }) };
};

const ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

const upToEnd = (events: readonly Event[]): readonly Event[] => {
  const end = events.findIndex(({ type }) => ENDS.has(type));
  return end < 0 ? events : events.slice(0, end + 1);
};

const itemOf = (event: Event): JsonObject => (event.item ?? {}) as JsonObject;
const isItem = (event: Event, type: string, stage = /^response\.output_item\./): boolean =>
  stage.test(event.type) && itemOf(event).type === type;
const isWebSearch = (event: Event): boolean =>
  isItem(event, 'web_search_call') || /^response\.web_search_call\./.test(event.type);
const ADDED = /^response\.output_item\.added$/;
const DONE = /^response\.output_item\.done$/;
const placesOf = (events: readonly Event[], type: RegExp): Set<unknown> =>
  new Set(events.filter((event) => type.test(event.type)).map(({ output_index }) => output_index));

const lacks = (events: readonly Event[], item: string, delta: RegExp): boolean => {
  const places = placesOf(events, delta);
  return events.some((event) => isItem(event, item, DONE) && !places.has(event.output_index));
};

/** Nothing was written before the end, whose response holds the output. */
const onlyEnd = (events: readonly Event[]): boolean =>
  !events.some(({ type, delta }) => (/delta$/.test(type) && delta !== '') || /annotation\.added$/.test(type));

const callsOf = (events: readonly Event[], stage: RegExp): Event[] =>
  events.filter((event) => isItem(event, 'function_call', stage));

type Row = { why: string; facets: (keyof Outcome)[]; applies(events: readonly Event[]): boolean };

/** Where Troupe differs, and why it is right. */
const ROWS: Row[] = [
  {
    why: 'sources that a search of the provider found are sources of the answer',
    facets: ['sources'],
    applies: (events) =>
      events.some((event) => isWebSearch(event) && JSON.stringify(event).includes('found.')),
  },
  {
    why: 'a body that ends in order is an answer, also without the word of the provider',
    facets: ['stop', 'usage'],
    applies: (events) => !events.some(({ type }) => ENDS.has(type)),
  },
  {
    why: 'a request that is rejected in the middle of its answer is rejected again when it is repeated',
    facets: ['stop'],
    applies: (events) => JSON.stringify(events.at(-1)).includes('"invalid_prompt"'),
  },
  {
    why: 'a text that came in no delta is in its finished message',
    facets: ['text'],
    applies: (events) => lacks(events, 'message', /(output_text|refusal)\.delta$/) || onlyEnd(events),
  },
  {
    why: 'a summary that came in no delta is in its finished item',
    facets: ['reasoning'],
    applies: (events) => lacks(events, 'reasoning', /reasoning_summary_text\.delta$/) || onlyEnd(events),
  },
  {
    why: 'an annotation that came in no event is in its finished message',
    facets: ['sources'],
    applies: (events) => lacks(events, 'message', /annotation\.added$/) || onlyEnd(events),
  },
  {
    why: 'an answer that came in no event is in the response at the end',
    facets: ['calls', 'stop', 'encrypted'],
    applies: onlyEnd,
  },
  {
    why: 'a call that is never finished ends with the answer',
    facets: ['calls'],
    applies: (events) => {
      const done = placesOf(events, DONE);
      return callsOf(events, ADDED).some(({ output_index }) => !done.has(output_index));
    },
  },
  {
    why: 'a call that is finished twice is one call',
    facets: ['calls'],
    applies: (events) => {
      const done = callsOf(events, DONE);
      return done.length > new Set(done.map(({ output_index }) => output_index)).size;
    },
  },
];

const used = new Set<Row>();

/** The package takes a search of the provider for a call of a tool: it is not shown any. */
const compare = async (given: readonly Event[]): Promise<void> => {
  const events = upToEnd(given);
  const { fit, outcome } = await theirs(events.filter((event) => !isWebSearch(event)));
  const read = events.filter((event) => isWebSearch(event) || fit.includes(event));
  const own = ours(read);
  for (const facet of Object.keys(own) as (keyof Outcome)[]) {
    if (isDeepStrictEqual(own[facet], outcome[facet])) continue;
    const row = ROWS.find(({ facets, applies }) => facets.includes(facet) && applies(read));
    if (!row) {
      const lines = read.map((event) => JSON.stringify(event)).join('\n');
      throw new Error(`${facet}: ${JSON.stringify(own)} instead of ${JSON.stringify(outcome)} for\n${lines}`);
    }
    used.add(row);
  }
};

t.test('valid streams are read as the package reads them', async () => {
  await fc.assert(fc.asyncProperty(stream, compare), { numRuns: RUNS / 2 });
});

t.test('spoiled streams are read as the package reads what it can read of them', async () => {
  await fc.assert(
    fc.asyncProperty(stream, mutations, async (events, all) => {
      const spoiled = mutated(events, all);
      ours(spoiled);
      await compare(spoiled);
    }),
    { numRuns: RUNS / 2 },
  );
});

t.test('every row of the differences is needed', async (t) => {
  t.strictSame(
    ROWS.filter((row) => !used.has(row)).map(({ why }) => why),
    [],
  );
});
