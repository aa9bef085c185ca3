import { isDeepStrictEqual } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import t from 'tap';
import { toBrokenStream, toModelError } from '../../../src/ai-sdk/errors.ts';
import { ModelError } from '../../../src/models/errors.ts';
import type { InferenceEnd, InferenceSource } from '../../../src/models/model.ts';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import fc from '../../random.ts';
import { type Heard, joined, recordingSink } from '../infer.ts';
import { decode, unnamed } from './decode.ts';
import { createPartReceiver } from './package-parts.ts';
import { isWebSearch, type Outcome, ROWS, type Row, upToEnd } from './responses-differences.ts';
import { type Event, mutated, mutations, stream } from './responses-streams.ts';

/** The decoder and the package `@ai-sdk/openai` read the same streams, and agree except for the listed differences. */

const RUNS = Number(process.env.TROUPE_ORACLE_RUNS ?? 2000);

const wire = openaiResponsesWire();

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

/** The events that the package cannot read: it reports them as errors, or crashes. */
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

/** The events that the package can read, and its outcome for them. */
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
      throw read.parts.length === 0 ? toModelError(read.thrown) : toBrokenStream(read.thrown, true);
  } catch (thrown) {
    if (!(thrown instanceof ModelError)) throw thrown;
    error = thrown;
  }
  return { fit: events, outcome: outcomeOf({ heard, sources, end, error }) };
};

const used = new Set<Row>();

/** The package mistakes a search of the provider for a tool call, so it receives none. */
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

t.test('reads valid streams like the package', async () => {
  await fc.assert(fc.asyncProperty(stream, compare), { numRuns: RUNS / 2 });
});

t.test('reads damaged streams like the package, as far as the package reads them', async () => {
  await fc.assert(
    fc.asyncProperty(stream, mutations, async (events, all) => {
      const spoiled = mutated(events, all);
      ours(spoiled);
      await compare(spoiled);
    }),
    { numRuns: RUNS / 2 },
  );
});

for (const row of ROWS) {
  t.test(`the package differs: ${row.why}`, async (t) => {
    used.clear();
    await compare(row.example);
    t.ok(used.has(row));
  });
}
