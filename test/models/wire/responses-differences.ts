import type { JsonObject } from '../../../src/schema/json.ts';
import type { Event } from './responses-streams.ts';

/** Differences between the decoder of the Responses protocol and the package `@ai-sdk/openai`. */

export type Outcome = {
  text: string;
  reasoning: string;
  encrypted: string[];
  /** Name and arguments of the ended calls, in order. */
  calls: string[];
  sources: string[];
  usage: unknown;
  /** The stop reason, or the class of the failure. */
  stop: string;
};

const ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

export const upToEnd = (events: readonly Event[]): readonly Event[] => {
  const end = events.findIndex(({ type }) => ENDS.has(type));
  return end < 0 ? events : events.slice(0, end + 1);
};

const itemOf = (event: Event): JsonObject => (event.item ?? {}) as JsonObject;
/** The items of an event, including those of the final response. */
const itemsOf = (event: Event): JsonObject[] => {
  const { output } = (event.response ?? {}) as { output?: (JsonObject | null)[] };
  return [itemOf(event), ...(Array.isArray(output) ? output : [])].filter((item) => item !== null);
};
const isItem = (event: Event, type: string, stage = /^response\.output_item\./): boolean =>
  stage.test(event.type) && itemOf(event).type === type;
export const isWebSearch = (event: Event): boolean =>
  isItem(event, 'web_search_call') || /^response\.web_search_call\./.test(event.type);
const ADDED = /^response\.output_item\.added$/;
const DONE = /^response\.output_item\.done$/;
const placesOf = (events: readonly Event[], type: RegExp): Set<unknown> =>
  new Set(
    events
      .filter((event) => type.test(event.type) && event.delta !== '')
      .map(({ output_index }) => output_index),
  );

const lacks = (events: readonly Event[], item: string, delta: RegExp): boolean => {
  const places = placesOf(events, delta);
  return events.some((event) => isItem(event, item, DONE) && !places.has(event.output_index));
};

/** Whether nothing was written before the end, whose response contains the output. */
const onlyEnd = (events: readonly Event[]): boolean =>
  !events.some(
    (event) =>
      (/(text|refusal)\.delta$/.test(event.type) && event.delta !== '') ||
      /annotation\.added$/.test(event.type) ||
      isItem(event, 'function_call', DONE) ||
      // A wrapper call is written when it is finished.
      (isItem(event, 'function_call', ADDED) && itemOf(event).name !== 'parallel'),
  );

const callsOf = (events: readonly Event[], stage: RegExp): Event[] =>
  events.filter((event) => isItem(event, 'function_call', stage));

export type Row = {
  why: string;
  facets: (keyof Outcome)[];
  applies(events: readonly Event[]): boolean;
  /** A stream that the package reads differently. */
  example: Event[];
};

const added = (item: JsonObject): Event => ({ type: 'response.output_item.added', output_index: 0, item });
const done = (item: JsonObject): Event => ({ type: 'response.output_item.done', output_index: 0, item });
const text = (delta: string): Event => ({
  type: 'response.output_text.delta',
  item_id: 'msg',
  output_index: 0,
  delta,
});
const completed = (output: JsonObject[] = []): Event => ({
  type: 'response.completed',
  response: { output },
});
const message = (said: string, annotations: JsonObject[] = []): JsonObject => ({
  type: 'message',
  id: 'msg',
  content: [{ type: 'output_text', text: said, annotations }],
});
const REASONING = { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'Hm' }] };
const CITATION = { type: 'url_citation', url: 'https://a.example', title: 'A' };
const CALL = {
  type: 'function_call',
  id: 'fc',
  call_id: 'call',
  name: 'search',
  arguments: '{"q":1}',
  status: 'completed',
};

/** The differences of Troupe, and why it is right. */
export const ROWS: Row[] = [
  {
    why: 'what follows the end of its item repeats the item',
    example: [done(message('Hello')), text('lo'), completed()],
    facets: ['text', 'reasoning', 'sources'],
    applies: (events) =>
      events.some((event, index) => {
        const { id } = itemOf(event);
        return DONE.test(event.type) && events.slice(index).some(({ item_id }) => item_id === id);
      }),
  },
  {
    why: 'sources that a search of the provider found are sources of the answer',
    example: [
      done({
        type: 'web_search_call',
        id: 'ws',
        status: 'completed',
        action: { type: 'search', sources: [{ type: 'url', url: 'https://found.example' }] },
      }),
      completed(),
    ],
    facets: ['sources'],
    applies: (events) =>
      events.some((event) => isWebSearch(event) && JSON.stringify(event).includes('"sources"')),
  },
  {
    why: 'a body that ends in order is an answer, also without the word of the provider',
    example: [text('Hi')],
    facets: ['stop', 'usage'],
    applies: (events) => !events.some(({ type }) => ENDS.has(type)),
  },
  {
    why: 'a code of an error has the same class before and after the answer has begun',
    example: [
      text('Hi'),
      {
        type: 'response.failed',
        sequence_number: 1,
        response: { error: { code: 'invalid_prompt', message: 'No' } },
      },
    ],
    facets: ['stop'],
    applies: (events) => /"(invalid_prompt|insufficient_quota)"/.test(JSON.stringify(events.at(-1))),
  },
  {
    why: 'a text that came in no delta is in its finished message',
    example: [done(message('Hi')), completed()],
    facets: ['text'],
    applies: (events) => lacks(events, 'message', /(output_text|refusal)\.delta$/) || onlyEnd(events),
  },
  {
    why: 'a summary that came in no delta is in its finished item',
    example: [added(REASONING), done(REASONING), completed()],
    facets: ['reasoning'],
    applies: (events) => lacks(events, 'reasoning', /reasoning_summary_text\.delta$/) || onlyEnd(events),
  },
  {
    why: 'an annotation that came in no event is in its finished message',
    example: [text('Hi'), done(message('Hi', [CITATION])), completed()],
    facets: ['sources'],
    applies: (events) => lacks(events, 'message', /annotation\.added$/) || onlyEnd(events),
  },
  {
    why: 'an answer that came in no event is in the response at the end',
    example: [completed([CALL])],
    facets: ['calls', 'stop', 'encrypted'],
    applies: onlyEnd,
  },
  {
    why: 'a call that is never finished ends with the answer',
    example: [
      added(CALL),
      { type: 'response.function_call_arguments.delta', item_id: 'fc', output_index: 0, delta: '{"q":1}' },
      completed(),
    ],
    facets: ['calls'],
    applies: (events) => {
      const done = new Set(callsOf(events, DONE).map(({ output_index }) => output_index));
      return callsOf(events, ADDED).some(({ output_index }) => !done.has(output_index));
    },
  },
  {
    why: 'a call that is finished twice is one call',
    example: [added(CALL), done(CALL), done(CALL), completed()],
    facets: ['calls'],
    applies: (events) => {
      const done = callsOf(events, DONE);
      return done.length > new Set(done.map(({ output_index }) => output_index)).size;
    },
  },
  {
    why: 'a call has the id that it began with, and the first name that it has',
    example: [added(CALL), done({ ...CALL, call_id: 'other' }), completed()],
    facets: ['calls'],
    applies: (events) => {
      const calls = callsOf(events, /item/);
      return calls.some((one) =>
        calls.some(
          (other) =>
            one.output_index === other.output_index &&
            (itemOf(one).call_id !== itemOf(other).call_id || itemOf(one).name !== itemOf(other).name),
        ),
      );
    },
  },
  {
    why: 'a call without a name is a failure, because no tool is meant',
    example: [added({ ...CALL, name: '' }), done({ ...CALL, name: '' }), completed()],
    facets: ['text', 'reasoning', 'encrypted', 'calls', 'sources', 'usage', 'stop'],
    applies: (events) =>
      events
        .flatMap(itemsOf)
        .some(({ type, name }) => type === 'function_call' && (typeof name !== 'string' || name === '')),
  },
  {
    why: 'a finished item without arguments has those of the events before it',
    example: [
      added({ ...CALL, arguments: '' }),
      { type: 'response.function_call_arguments.done', item_id: 'fc', output_index: 0, arguments: '{"q":1}' },
      done({ ...CALL, arguments: '' }),
      completed(),
    ],
    facets: ['calls'],
    applies: (events) => callsOf(events, DONE).some((event) => itemOf(event).arguments === ''),
  },
  {
    why: 'an annotation without an address is no source',
    example: [
      text('Hi'),
      {
        type: 'response.output_text.annotation.added',
        item_id: 'msg',
        output_index: 0,
        content_index: 0,
        annotation_index: 0,
        annotation: { ...CITATION, url: '', start_index: 0, end_index: 1 },
      },
      completed(),
    ],
    facets: ['sources'],
    applies: (events) => /"(url|filename|file_id)":""/.test(JSON.stringify(events)),
  },
];
