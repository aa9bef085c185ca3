import assert from 'node:assert/strict';
import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import { objectOf } from '../../../src/models/wire/read.ts';
import type { Json, JsonObject } from '../../../src/schema/json.ts';
import fc from '../../random.ts';
import { type Heard, joined } from '../infer.ts';
import { type Read, readBySdk } from './anthropic-oracle.ts';
import { type Decoded, decode, named } from './decode.ts';

/**
 * Compares the decoding of generated streams, valid and broken, with the package `@ai-sdk/anthropic`, except for the
 * differences in this file. `TROUPE_ORACLE_RUNS` sets their number.
 */

const LONG = 10_000;
const RUNS = Number(process.env.TROUPE_ORACLE_RUNS || 2000);

type Event = JsonObject & { type: string };

const words = fc.string({ maxLength: 6 });
const pieces = fc.array(words, { maxLength: 4 });
const count = fc.nat(50);

const textBlock = pieces.map((deltas) => ({
  start: { type: 'text', text: '' },
  deltas: deltas.map((text): JsonObject => ({ type: 'text_delta', text })),
}));
const thinkingBlock = fc.tuple(pieces, fc.boolean()).map(([deltas, isSigned]) => ({
  start: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    ...deltas.map((thinking): JsonObject => ({ type: 'thinking_delta', thinking })),
    ...(isSigned ? [{ type: 'signature_delta', signature: 'sig' }] : []),
  ],
}));
const redactedBlock = words.map((data) => ({ start: { type: 'redacted_thinking', data }, deltas: [] }));
const callBlock = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    name: fc.constantFrom('get', 'put'),
    args: fc.oneof(fc.constant(''), fc.json({ maxDepth: 1 }), fc.constant('{"cut":')),
    cut: fc.nat(9),
    isWhole: fc.boolean(),
  })
  .map(({ id, name, args, cut, isWhole }) => ({
    start: { type: 'tool_use', id, name, input: (isWhole ? { a: cut } : {}) as JsonObject },
    deltas: isWhole
      ? []
      : ['', args.slice(0, cut), args.slice(cut)].map(
          (partial_json): JsonObject => ({ type: 'input_json_delta', partial_json }),
        ),
  }));
const serverBlock = fc.constantFrom<{ start: JsonObject; deltas: JsonObject[] }>(
  { start: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, deltas: [] },
  { start: { type: 'web_search_tool_result', tool_use_id: 's', content: [] }, deltas: [] },
);
const anyBlock = fc.oneof(
  { weight: 4, arbitrary: textBlock },
  { weight: 2, arbitrary: thinkingBlock },
  { weight: 4, arbitrary: callBlock },
  redactedBlock,
  serverBlock,
);
const usage = fc.record(
  {
    input_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    output_tokens: count,
  },
  { requiredKeys: ['input_tokens', 'output_tokens'] },
);
const endUsage = fc.record(
  {
    output_tokens: count,
    input_tokens: fc.integer({ min: 1, max: 50 }),
    output_tokens_details: fc.constant({ thinking_tokens: 3 }),
  },
  { requiredKeys: ['output_tokens'] },
);
const reason = fc.constantFrom(
  'end_turn',
  'tool_use',
  'max_tokens',
  'stop_sequence',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'compaction',
  'unheard_of',
);

/** A valid stream of the documented form. */
const stream = fc
  .record({
    blocks: fc.array(anyBlock, { maxLength: 4 }),
    usage,
    endUsage,
    reason,
    pings: fc.array(count, { maxLength: 2 }),
  })
  .map(({ blocks, usage, endUsage, reason, pings }): Event[] => {
    const ids = new Set<unknown>();
    const usable = blocks.filter(
      ({ start }) => !('id' in start) || (!ids.has(start.id) && ids.add(start.id)),
    );
    const events: Event[] = [
      {
        type: 'message_start',
        message: { id: 'msg', type: 'message', role: 'assistant', content: [], usage },
      },
      ...usable.flatMap(({ start, deltas }, index): Event[] => [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta): Event => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: endUsage },
      { type: 'message_stop' },
    ];
    for (const at of pings) events.splice(at % events.length, 0, { type: 'ping' });
    return events;
  });

type Mutation = (events: readonly Event[], at: number) => Event[];

const changed = (events: readonly Event[], at: number, change: (event: Event) => Event): Event[] =>
  events.map((event, index) => (index === at % events.length ? change(event) : event));

/** Replaces a value in an event, except its type. */
const replaced = (value: Json, at: number, by: Json): Json => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return by;
  const keys = Object.keys(value).filter((key) => key !== 'type');
  const key = keys[at % keys.length];
  return key === undefined ? value : { ...value, [key]: replaced(value[key] ?? null, at >> 2, by) };
};

const replace =
  (by: Json): Mutation =>
  (events, at) =>
    changed(events, at, (event) => ({ ...event, ...(replaced(event, at >> 3, by) as JsonObject) }));

const mutations: Record<string, Mutation> = {
  drop: (events, at) => events.filter((_, index) => index !== at % events.length),
  duplicate: (events, at) =>
    events.flatMap((event, index) => (index === at % events.length ? [event, event] : [event])),
  reorder: (events, at) => {
    const first = at % events.length;
    const [event] = events.slice(first, first + 1);
    const rest = events.filter((_, index) => index !== first);
    return event ? rest.toSpliced(Math.min(first + 1, rest.length), 0, event) : rest;
  },
  field: (events, at) => changed(events, at, (event) => ({ ...event, future: { a: [1] } })),
  event: (events, at) =>
    events.toSpliced(at % events.length, 0, { type: 'future_event', delta: { text: 'no' } }),
  type: (events, at) =>
    changed(events, at, (event) => {
      const [key, inner] = Object.entries(event).find(([, value]) => typeof value === 'object') ?? [];
      return key === undefined
        ? event
        : { ...event, [key]: { ...(inner as JsonObject), type: 'future_type' } };
    }),
  null: replace(null),
  number: replace(7),
  text: replace('7'),
  list: replace([]),
};

const broken = fc
  .tuple(
    stream,
    fc.array(fc.tuple(fc.constantFrom(...Object.keys(mutations)), fc.nat(1000)), { maxLength: 2 }),
  )
  .map(([events, steps]) =>
    steps.reduce((now, [name, at]) => (now.length > 0 ? (mutations[name]?.(now, at) ?? now) : now), events),
  );

type Call = { name: string; args: string };

/** Missing arguments count as those of an empty object. */
const callsIn = (heard: readonly Heard[]): Call[] => {
  const names = new Map(heard.flatMap(([kind, id, value]) => (kind === 'start' ? [[id, value ?? '']] : [])));
  return heard.flatMap(([kind, id, value]) =>
    kind === 'end' ? [{ name: names.get(id) ?? '', args: value === '' ? '{}' : (value ?? '') }] : [],
  );
};

/** The package reports missing counts as 0. */
const countsOf = ({ end, error }: Pick<Decoded, 'end' | 'error'>): object => {
  const { prompt_tokens, completion_tokens, total_tokens: _, ...rest } = end?.usage ?? error?.usage ?? {};
  return { prompt_tokens: prompt_tokens || 0, completion_tokens: completion_tokens || 0, ...rest };
};

type Difference = {
  why: string;
  applies(ours: Decoded, theirs: Read, events: readonly Event[]): boolean;
  isRare?: boolean;
};

const types = (events: readonly Event[]): string[] => events.map(({ type }) => type);

/** Neither decoder reads events after `message_stop`. Another start with the index replaces the block. */
const isEnded = (events: readonly Event[], start: number): boolean =>
  events
    .slice(start + 1, types(events).indexOf('message_stop'))
    .find(({ type, index }) => /^content_block_st/.test(type) && index === events[start]?.index)?.type ===
  'content_block_stop';

/** Without a stop reason, a stream with content is a completion, and one without is interrupted. */
const isExpectedEnd = ({ end, error }: Decoded, events: readonly Event[]): boolean => {
  const reasons = events.map(({ delta }) => objectOf(delta)?.stop_reason);
  if (error) return error.class === (reasons.includes('refusal') ? 'content_filtered' : 'stream_interrupted');
  return reasons.some((each) => typeof each === 'string') !== (end?.cutShort === true);
};

const DIFFERENCES: readonly Difference[] = [
  {
    why: 'An event that the package cannot read ends its answer. The API asks clients to ignore it.',
    applies: (_, { unfit }) => unfit.length > 0,
  },
  {
    why: 'A body that ends without message_stop ends for the reason before it, or is an answer that was cut short.',
    applies: (ours, { end, error }, events) =>
      !end && !error && !types(events).includes('message_stop') && isExpectedEnd(ours, events),
  },
  {
    why: 'message_stop without a reason, or of a second message, is the end of the answer. The package reports an interrupted stream.',
    applies: ({ end }, { error }) => error?.class === 'stream_interrupted' && end !== undefined,
  },
  {
    why: 'A call whose block the service did not end is the last thing that it wrote. The package drops the call.',
    applies: (ours, theirs, events) =>
      callsIn(ours.heard).length > callsIn(theirs.heard).length &&
      events.some(
        (event, index) =>
          event.type === 'content_block_start' &&
          (event.content_block as JsonObject).type === 'tool_use' &&
          !isEnded(events, index),
      ),
  },
  {
    isRare: true,
    why: 'A count of 0 does not replace another count. The package reads the events in the order in which they come.',
    applies: (ours, theirs, events) =>
      promptTokensOf(ours) > promptTokensOf(theirs) &&
      events.some((event) =>
        Object.entries(usagesOf(event)).some(([key, value]) => key !== 'output_tokens' && value === 0),
      ) &&
      ours.error?.class === theirs.error?.class &&
      same({ ...ours, end: theirs.end, error: theirs.error }, theirs),
  },
  {
    isRare: true,
    why: 'A count of thinking stays where a later event has null in its place. The package reads the last event alone.',
    applies: (ours, theirs, events) =>
      thinkingTokensOf(ours) !== undefined &&
      thinkingTokensOf(theirs) === undefined &&
      events.some((event) => objectOf(usagesOf(event).output_tokens_details)?.thinking_tokens === null) &&
      same(withoutThinkingTokens(ours), theirs),
  },
  {
    isRare: true,
    why: 'A call that begins again under its id keeps the arguments that were passed on. The package takes those of the last block.',
    applies: (ours, theirs, events) =>
      callsIn(ours.heard).length === callsIn(theirs.heard).length &&
      events.some(
        (event, index) =>
          callId(event) !== undefined &&
          events.slice(0, index).some((other) => callId(other) === callId(event)),
      ),
  },
];

const promptTokensOf = ({ end, error }: Pick<Decoded, 'end' | 'error'>): number =>
  (end?.usage ?? error?.usage)?.prompt_tokens ?? 0;

const thinkingTokensOf = ({ end, error }: Pick<Decoded, 'end' | 'error'>): number | undefined =>
  (end?.usage ?? error?.usage)?.thinking_tokens;

const withoutThinkingTokens = ({ end, error, ...rest }: Decoded): Decoded => {
  const { thinking_tokens: _, ...usage } = end?.usage ?? error?.usage ?? {};
  return {
    ...rest,
    ...(end && { end: { ...end, usage } }),
    ...(error && { error: new ModelError(error.class, error.detail, { usage }) }),
  };
};

const callId = ({ type, content_block }: Event): unknown => {
  const block = type === 'content_block_start' ? objectOf(content_block) : undefined;
  return block?.type === 'tool_use' ? block.id : undefined;
};

const usagesOf = ({ message, usage }: Event): JsonObject => objectOf(usage ?? objectOf(message)?.usage) ?? {};

const same = (ours: Decoded, theirs: Read): boolean => {
  try {
    assert.deepEqual(
      { calls: callsIn(ours.heard), usage: countsOf(ours), stop: ours.end?.stop, error: ours.error?.class },
      {
        calls: callsIn(theirs.heard),
        usage: countsOf(theirs),
        stop: theirs.end?.stop,
        error: theirs.error?.class,
      },
    );
    return true;
  } catch {
    return false;
  }
};

const seen = new Map<string, number>();

/** Text in the start of a block belongs to the block. The API sends none there, and the package ignores it. */
const startsWithText = ({ type, content_block }: Event): boolean => {
  const { text, thinking } = type === 'content_block_start' ? (objectOf(content_block) ?? {}) : {};
  return Boolean(text || thinking);
};

/** A proxy that retries before it has received anything starts a second message, which the package does not read. */
const hasTwoMessages = (events: readonly Event[]): boolean =>
  new Set(events.flatMap(({ type, message }) => (type === 'message_start' ? [objectOf(message)?.id] : [])))
    .size > 1;

/**
 * Additional output of Troupe comes from events that the package does not read, from the start of a block or from a
 * second message.
 */
const checkTexts = (ours: Decoded, theirs: Read, events: readonly Event[]): void => {
  const isMore = theirs.unfit.length > 0 || events.some(startsWithText) || hasTwoMessages(events);
  for (const kind of ['text', 'reasoning'] as const) {
    const [all, some] = [joined(ours.heard, kind), joined(theirs.heard, kind)];
    if (!isMore) assert.equal(all, some);
    let found = 0;
    for (const character of all) if (character === some[found]) found += 1;
    assert.equal(found, some.length, `${some} is not part of ${all}`);
  }
};

const compare = async (events: readonly Event[]): Promise<void> => {
  const ours = decode(anthropicWire(), named(events));
  const theirs = await readBySdk(events);
  checkTexts(ours, theirs, events);
  if (same(ours, theirs)) return;
  const difference = DIFFERENCES.find(({ applies }) => applies(ours, theirs, events));
  if (!difference) assert.fail(`not listed: ${JSON.stringify({ ours, theirs })}`);
  seen.set(difference.why, (seen.get(difference.why) ?? 0) + 1);
};

t.test('reads a valid stream like the package', async () => {
  await fc.assert(
    fc.asyncProperty(stream, async (events) => {
      const ours = decode(anthropicWire(), named(events));
      const theirs = await readBySdk(events);
      checkTexts(ours, theirs, events);
      assert.ok(same(ours, theirs), JSON.stringify({ ours, theirs }));
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  );
});

t.test('reads a broken stream like the package or better', async (t) => {
  await fc.assert(fc.asyncProperty(broken, compare), { numRuns: Math.ceil((RUNS * 3) / 4) });
  // A short run may not generate a stream for each row.
  if (RUNS < LONG) return;
  for (const { why, isRare } of DIFFERENCES) t.ok(isRare || seen.has(why), why);
});
