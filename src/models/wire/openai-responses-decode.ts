import type { JsonObject } from '../../schema/json.ts';
import { toStreamError } from '../classify.ts';
import { ModelError } from '../errors.ts';
import { isRefusal } from '../reason.ts';
import { type BuiltInCalls, createBuiltInCalls, toolOfItem } from './openai-built-in-tools.ts';
import { type Calls, createCalls } from './openai-responses-calls.ts';
import { readFailure } from './openai-responses-failure.ts';
import {
  createReasoningItem,
  encryptedOf,
  reasoningTextOf,
  sourceOfAnnotation,
  sourcesOfItem,
  textOfMessage,
} from './openai-responses-items.ts';
import { countOf, listOf, objectIn, objectOf, reportUsage, textOf } from './read.ts';
import type { AnswerWriter, Decoder, Finish } from './wire.ts';

/**
 * Decodes the events of a streamed response.
 *
 * Guarantees: each text, call, source and reasoning item is written once, whether it arrived in deltas, in its finished
 * item, in the final response, or in all of them. Items are identified by `output_index`, because some services change
 * the ids of items within a stream.
 * Cost per delta: one `JSON.parse`, one switch and one call of the writer.
 */
export const createResponsesDecoder = (answer: AnswerWriter): Decoder => {
  const state: State = {
    answer,
    calls: createCalls(answer),
    builtIn: createBuiltInCalls(answer),
    texted: new Set(),
    sourced: new Set(),
    returned: new Set(),
    textRead: noItems(),
    sourcesRead: noItems(),
    sources: 0,
    latest: -1,
    finish: undefined,
  };
  return {
    push(event, data) {
      const json = objectIn(data);
      if (!json) return data === '[DONE]';
      read(state, textOf(json.type) ?? event, json);
      return state.finish !== undefined;
    },
    isFinished: () => state.finish !== undefined,
    whole: (json) => readWhole(state, objectOf(json)),
    end() {
      state.calls.endAll(state.finish !== undefined);
      return state.finish ?? { reason: 'missing' };
    },
  };
};

/** The `output_index` of an item; undefined if an event lacks it. */
type Place = number | undefined;

type State = {
  readonly answer: AnswerWriter;
  readonly calls: Calls;
  readonly builtIn: BuiltInCalls;
  /** Items whose text or reasoning was written. */
  readonly texted: Set<Place>;
  /** Items whose sources were written. */
  readonly sourced: Set<Place>;
  /** Items whose finished form was written; a later delta repeats it. */
  readonly textRead: ItemSet;
  readonly sourcesRead: ItemSet;
  /** Encrypted content of the reasoning items that were written. */
  readonly returned: Set<string>;
  sources: number;
  /** Last position of a written text or call. */
  latest: number;
  finish: Finish | undefined;
};

/** Items by id, and by position for events without an id. */
type ItemSet = { readonly ids: Set<unknown>; readonly places: Set<Place> };

const noItems = (): ItemSet => ({ ids: new Set(), places: new Set() });

const addItem = ({ ids, places }: ItemSet, { id }: JsonObject, place: Place): void => {
  ids.add(id);
  places.add(place);
};

const read = (state: State, type: string, json: JsonObject): void => {
  const place = countOf(json.output_index);
  switch (type) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      if (!isRepeated(state.textRead, json, place)) readText(state, textOf(json.delta), place);
      break;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      if (!isRepeated(state.textRead, json, place)) readReasoning(state, textOf(json.delta), place);
      break;
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      state.calls.delta(json);
      break;
    case 'response.function_call_arguments.done':
    case 'response.custom_tool_call_input.done':
      state.calls.arguments(json);
      break;
    case 'response.code_interpreter_call_code.done':
      state.builtIn.code(json);
      break;
    case 'response.output_item.added':
      readAdded(state, objectOf(json.item), place);
      break;
    case 'response.output_item.done':
      readItem(state, objectOf(json.item), place);
      break;
    case 'response.output_text.annotation.added':
      readAnnotation(state, json, place);
      break;
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      readEnd(state, type, objectOf(json.response) ?? {});
      break;
    case 'error':
      throw toStreamError(readFailure(json) ?? json, state.answer.hasBegun());
    default:
      // The event belongs to a later protocol version, or only repeats others.
      if (json.type === undefined) refuseForeign(state, json);
  }
};

const readText = (state: State, text: string | undefined, place: Place): void => {
  if (text === undefined || text === '') return;
  state.texted.add(place);
  passed(state, place);
  state.answer.text(text);
};

const readReasoning = (state: State, text: string | undefined, place: Place): void => {
  if (text === undefined || text === '') return;
  state.texted.add(place);
  state.answer.reasoning(text);
};

const isRepeated = ({ ids, places }: ItemSet, { item_id }: JsonObject, place: Place): boolean =>
  typeof item_id === 'string' && item_id !== '' ? ids.has(item_id) : place !== undefined && places.has(place);

const passed = (state: State, place: Place): void => {
  if (place !== undefined && place > state.latest) state.latest = place;
};

/** Without a position, any earlier output may be the same. */
const isIn = (places: ReadonlySet<Place>, place: Place): boolean =>
  place === undefined ? places.size > 0 : places.has(place) || places.has(undefined);

const readAdded = (state: State, item: JsonObject | undefined, place: Place): void => {
  if (!item) return;
  state.builtIn.begin(item, place);
  if (!isCall(item)) return;
  passed(state, place);
  state.calls.open(item, place);
};

const isCall = ({ type }: JsonObject): boolean => type === 'function_call' || type === 'custom_tool_call';

/** Reads a finished item, which repeats the content of its deltas. */
const readItem = (state: State, item: JsonObject | undefined, place: Place): void => {
  if (!item) return;
  if (isCall(item)) {
    passed(state, place);
    state.calls.end(item, place);
  } else if (item.type === 'reasoning') readReasoningItem(state, item, place);
  else if (item.type === 'message' && !isIn(state.texted, place)) {
    const text = textOfMessage(item);
    if (text !== '') addItem(state.textRead, item, place);
    readText(state, text, place);
  }
  if (toolOfItem(item) !== undefined) state.builtIn.end(item, place, isNext(state, place));
  readSources(state, item, place);
};

/** Whether no output that follows the position was written. */
const isNext = ({ latest }: State, place: Place): boolean => place === undefined || place > latest;

const readReasoningItem = (state: State, item: JsonObject, place: Place): void => {
  const { answer } = state;
  if (!isIn(state.texted, place)) {
    const text = reasoningTextOf(item);
    if (text !== '') addItem(state.textRead, item, place);
    readReasoning(state, text, place);
  }
  const encrypted = encryptedOf(item);
  if (encrypted === undefined || state.returned.has(encrypted)) return;
  state.returned.add(encrypted);
  answer.reasoningEncrypted(encrypted);
  // The item must precede the output to which it belongs. The provider accepts calls and texts without their reasoning,
  // but rejects reasoning in another position.
  if (isNext(state, place)) answer.reasoningItem(createReasoningItem(item, encrypted));
};

const readAnnotation = (state: State, json: JsonObject, place: Place): void => {
  if (isRepeated(state.sourcesRead, json, place)) return;
  const annotation = objectOf(json.annotation);
  const source = annotation && sourceOfAnnotation(annotation, nextSource(state, json.item_id));
  if (!source) return;
  state.sourced.add(place);
  state.answer.source(source);
};

const readSources = (state: State, item: JsonObject, place: Place): void => {
  if (isIn(state.sourced, place)) return;
  for (const source of sourcesOfItem(item, () => nextSource(state, item.id))) {
    addItem(state.sourcesRead, item, place);
    state.sourced.add(place);
    state.answer.source(source);
  }
};

/** The protocol has no ids for sources, so they are derived from item ids, which differ between completions. */
const nextSource = (state: State, item: unknown): string => {
  state.sources += 1;
  return `${textOf(item) || 'source'}-${state.sources}`;
};

const readEnd = (state: State, type: string, response: JsonObject): void => {
  readUsage(state.answer, response);
  if (type === 'response.failed') {
    const error = readFailure(response);
    if (error) throw toStreamError(error, state.answer.hasBegun());
  }
  readOutput(state, listOf(response.output));
  state.finish = finishOf(type, response, state.calls);
};

/** Reads the whole output if the service sent nothing else; otherwise only completes calls. */
const readOutput = (state: State, output: readonly unknown[]): void => {
  const isAll = !state.answer.hasBegun();
  for (const [place, each] of output.entries()) {
    const item = objectOf(each);
    if (item && isAll) readItem(state, item, place);
    else if (item && isCall(item)) state.calls.complete(item);
    else if (item && toolOfItem(item) !== undefined) state.builtIn.end(item, place, isNext(state, place));
  }
};

const readWhole = (state: State, response: JsonObject | undefined): boolean => {
  if (!response || !Array.isArray(response.output) || response.error != null) return false;
  const status = response.status ?? 'completed';
  if (status !== 'completed' && status !== 'incomplete') return false;
  readEnd(state, `response.${status}`, response);
  return true;
};

const readUsage = (answer: AnswerWriter, response: JsonObject): void => {
  const usage = objectOf(response.usage);
  if (!usage) return;
  const input = objectOf(usage.input_tokens_details);
  const output = objectOf(usage.output_tokens_details);
  reportUsage(answer, {
    prompt: countOf(usage.input_tokens),
    completion: countOf(usage.output_tokens),
    cacheRead: countOf(input?.cached_tokens),
    cacheWrite: countOf(input?.cache_write_tokens),
    thinking: countOf(output?.reasoning_tokens),
  });
};

const finishOf = (type: string, response: JsonObject, calls: Calls): Finish => {
  const raw = textOf(objectOf(response.incomplete_details)?.reason);
  if (raw === 'max_output_tokens') return { reason: 'length', raw };
  if (raw === 'content_filter') return { reason: 'filtered', raw };
  if (raw !== undefined) return { reason: 'other', raw };
  if (type === 'response.failed') return { reason: 'failed', raw: 'failed' };
  return { reason: calls.any() ? 'calls' : 'stop' };
};

/** Every event of this protocol has a type: data without one is an error or another protocol. */
const refuseForeign = ({ answer }: State, json: JsonObject): void => {
  if (isRefusal(json)) throw toStreamError(json, answer.hasBegun());
  if (!Array.isArray(json.choices)) return;
  throw new ModelError(
    'provider',
    "the provider responds in the Chat Completions protocol, which the adapter 'openai' reads",
    { final: true },
  );
};
