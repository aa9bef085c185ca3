import type { JsonObject } from '../../../src/schema/json.ts';
import fc from '../../random.ts';

/** Random streams of the Responses protocol, both as its specification allows and as services deviate from it. */

export type Event = JsonObject & { type: string };

type Draft = Readonly<Record<string, unknown>>;

const words = fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme' });
const deltas = fc.array(words, { minLength: 1, maxLength: 4 });

/** An item of the output: its events in order, and its finished form. */
type Item = { events: Draft[]; item: Draft };
/** `n`: its position, from which its ids are derived. */
type MakeItem = (n: number) => Item;

const message: fc.Arbitrary<MakeItem> = fc
  .record({
    texts: deltas,
    isRefusal: fc.boolean(),
    annotations: fc.array(
      fc.constantFrom<Draft>(
        { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 },
        { type: 'file_citation', file_id: 'f1', filename: 'a.txt', index: 0 },
        { type: 'container_file_citation', container_id: 'c', file_id: 'f2', filename: 'b.txt' },
        { type: 'file_path', file_id: 'f3', index: 0 },
      ),
      { maxLength: 2 },
    ),
  })
  .map(({ texts, isRefusal, annotations }) => (n) => {
    const id = `msg_${n}`;
    const at = { item_id: id, output_index: n, content_index: 0 };
    const cited = isRefusal ? [] : annotations;
    const part = isRefusal
      ? { type: 'refusal', refusal: texts.join('') }
      : { type: 'output_text', text: texts.join(''), annotations: cited };
    const item = { type: 'message', id, role: 'assistant', status: 'completed', content: [part] };
    return {
      item,
      events: [
        { type: 'response.output_item.added', item: { ...item, content: [] } },
        { type: 'response.content_part.added', ...at, part: { type: part.type } },
        ...texts.map((delta) => ({
          type: isRefusal ? 'response.refusal.delta' : 'response.output_text.delta',
          ...at,
          delta,
        })),
        ...cited.map((annotation, annotation_index) => ({
          type: 'response.output_text.annotation.added',
          ...at,
          annotation_index,
          annotation,
        })),
        isRefusal
          ? { type: 'response.refusal.done', ...at, refusal: texts.join('') }
          : { type: 'response.output_text.done', ...at, text: texts.join('') },
        { type: 'response.content_part.done', ...at, part },
        { type: 'response.output_item.done', item },
      ],
    };
  });

const reasoning: fc.Arbitrary<MakeItem> = fc
  .record({ summaries: fc.array(deltas, { maxLength: 2 }), isEncrypted: fc.boolean() })
  .map(({ summaries, isEncrypted }) => (n) => {
    const id = `rs_${n}`;
    const item = {
      type: 'reasoning',
      id,
      summary: summaries.map((texts) => ({ type: 'summary_text', text: texts.join('') })),
      encrypted_content: isEncrypted ? `ENC${n}` : null,
    };
    return {
      item,
      events: [
        {
          type: 'response.output_item.added',
          item: { ...item, summary: [], encrypted_content: isEncrypted ? `BEGUN${n}` : null },
        },
        ...summaries.flatMap((texts, summary_index) => {
          const at = { item_id: id, output_index: n, summary_index };
          const part = { type: 'summary_text', text: texts.join('') };
          return [
            { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
            ...texts.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
            { type: 'response.reasoning_summary_text.done', ...at, text: texts.join('') },
            { type: 'response.reasoning_summary_part.done', ...at, part },
          ];
        }),
        { type: 'response.output_item.done', item },
      ],
    };
  });

const json = fc.constantFrom(
  '{}',
  '',
  '{"q":1}',
  '{"text":"a \\"b\\" ü","n":[1,2]}',
  '{"cut":',
  'null',
  '[]',
);
const wrapped = JSON.stringify({
  tool_uses: [
    { recipient_name: 'functions.search', parameters: { q: 1 } },
    { recipient_name: 'functions.search', parameters: {} },
  ],
});

const call: fc.Arbitrary<MakeItem> = fc
  .record({
    args: fc.oneof(json, fc.constant(wrapped)),
    cut: fc.nat({ max: 12 }),
    name: fc.constantFrom('search', 'parallel'),
  })
  .map(({ args, cut, name }) => (n) => {
    const id = `fc_${n}`;
    const at = { item_id: id, output_index: n };
    const item = {
      type: 'function_call',
      id,
      call_id: `call_${n}`,
      name,
      arguments: args,
      status: 'completed',
    };
    return {
      item,
      events: [
        { type: 'response.output_item.added', item: { ...item, arguments: '', status: 'in_progress' } },
        ...[args.slice(0, cut), args.slice(cut)]
          .filter((delta) => delta !== '')
          .map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
        { type: 'response.function_call_arguments.done', ...at, name, arguments: args },
        { type: 'response.output_item.done', item },
      ],
    };
  });

const webSearch: fc.Arbitrary<MakeItem> = fc.boolean().map((hasSources) => (n) => {
  const id = `ws_${n}`;
  const item = {
    type: 'web_search_call',
    id,
    status: 'completed',
    action: {
      type: 'search',
      query: 'q',
      ...(hasSources && { sources: [{ type: 'url', url: 'https://found.example' }] }),
    },
  };
  return {
    item,
    events: [
      { type: 'response.output_item.added', item: { type: 'web_search_call', id, status: 'in_progress' } },
      { type: 'response.web_search_call.searching', item_id: id, output_index: n },
      { type: 'response.output_item.done', item },
    ],
  };
});

const usage = fc.record({
  input_tokens: fc.nat({ max: 1000 }),
  input_tokens_details: fc.option(fc.record({ cached_tokens: fc.nat({ max: 9 }) }), { nil: undefined }),
  output_tokens: fc.nat({ max: 1000 }),
  output_tokens_details: fc.option(fc.record({ reasoning_tokens: fc.nat({ max: 9 }) }), { nil: undefined }),
});

const CODES = [
  'server_error',
  'rate_limit_exceeded',
  'invalid_prompt',
  'context_length_exceeded',
  'vector_store_timeout',
  'insufficient_quota',
] as const;

const end: fc.Arbitrary<(response: Draft) => Draft[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant((response: Draft) => [{ type: 'response.completed', response }]) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('max_output_tokens', 'content_filter', 'future')
      .map((reason) => (response: Draft) => [
        { type: 'response.incomplete', response: { ...response, incomplete_details: { reason } } },
      ]),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...CODES)
      .map((code) => (response: Draft) => [
        { type: 'response.failed', response: { ...response, error: { code, message: 'Oops' } } },
      ]),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...CODES)
      .map((code) => () => [
        { type: 'error', error: { type: 'some_error', code, message: 'Oops', param: null } },
      ]),
  },
);

/** A stream that conforms to the specification; events of two calls may alternate. */
export const stream: fc.Arbitrary<Event[]> = fc
  .record({
    makers: fc.array(
      fc.oneof(
        { weight: 4, arbitrary: message },
        { weight: 3, arbitrary: reasoning },
        { weight: 4, arbitrary: call },
        { weight: 1, arbitrary: webSearch },
      ),
      { maxLength: 4 },
    ),
    usage,
    end,
    alternate: fc.boolean(),
  })
  .map(({ makers, usage, end, alternate }) => {
    const items = makers.map((make, n) => make(n));
    const lists = items.map(({ events }, output_index) =>
      events.map((event) => ({ output_index, ...event })),
    );
    const response = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'gpt-5',
      status: 'completed',
      error: null,
      incomplete_details: null,
      output: items.map(({ item }) => item),
      usage: { ...usage, total_tokens: usage.input_tokens + usage.output_tokens },
    };
    const events = [
      { type: 'response.created', response: { ...response, output: [], usage: null, status: 'in_progress' } },
      { type: 'response.in_progress', response: { ...response, output: [], usage: null } },
      ...(alternate ? alternated(lists) : lists.flat()),
      ...end(response),
    ];
    // All preceding literals are JSON and have a type.
    return events.map((event, sequence_number) => ({ ...event, sequence_number }) as unknown as Event);
  });

/** Interleaves the events of consecutive calls. */
const alternated = (lists: readonly Draft[][]): Draft[] => {
  const [first = [], second = [], ...rest] = lists;
  if (lists.length < 2) return lists.flat();
  if (!isCalls(first) || !isCalls(second)) return [...first, ...alternated(lists.slice(1))];
  const both: Draft[] = [];
  for (let n = 0; n < Math.max(first.length, second.length); n += 1) {
    both.push(...first.slice(n, n + 1), ...second.slice(n, n + 1));
  }
  return [...both, ...alternated(rest)];
};

const isCalls = (list: readonly Draft[]): boolean => JSON.stringify(list[0]).includes('"function_call"');

type Mutation = {
  kind: 'drop' | 'double' | 'swap' | 'unset' | 'replace' | 'add' | 'insert';
  at: number;
  other: number;
  value: unknown;
};

export const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Mutation['kind']>('drop', 'double', 'swap', 'unset', 'replace', 'add', 'insert'),
    at: fc.nat({ max: 1000 }),
    other: fc.nat({ max: 1000 }),
    value: fc.constantFrom<unknown>(null, 7, '', 'x', [], {}),
  }),
  { minLength: 1, maxLength: 3 },
);

export const mutated = (events: readonly Event[], all: readonly Mutation[]): Event[] => {
  const result = structuredClone([...events]);
  for (const { kind, at, other, value } of all) {
    if (result.length === 0) return result;
    const index = at % result.length;
    const event = result[index];
    if (!event) continue;
    if (kind === 'drop') result.splice(index, 1);
    else if (kind === 'double') result.splice(other % (result.length + 1), 0, structuredClone(event));
    else if (kind === 'swap') swap(result, index, other % result.length);
    else if (kind === 'insert') result.splice(index, 0, { type: 'response.future.event', value: 1 });
    else mutateField(event, kind, other, value);
  }
  return result;
};

const swap = (events: Event[], one: number, other: number): void => {
  const [a, b] = [events[one], events[other]];
  if (!a || !b) return;
  events[one] = b;
  events[other] = a;
};

const mutateField = (event: Event, kind: 'unset' | 'replace' | 'add', pick: number, value: unknown): void => {
  const objects = objectsIn(event);
  const target = objects[pick % objects.length];
  if (!target) return;
  const keys = Object.keys(target);
  const key = kind === 'add' ? 'future' : (keys[pick % keys.length] ?? 'future');
  if (kind === 'unset') Reflect.deleteProperty(target, key);
  else Reflect.set(target, key, structuredClone(value));
};

const objectsIn = (value: unknown): object[] => {
  if (typeof value !== 'object' || value === null) return [];
  return [...(Array.isArray(value) ? [] : [value]), ...Object.values(value).flatMap(objectsIn)];
};
