import type { JsonObject } from '../../schema/json.ts';
import { interrupted, toStreamError } from '../classify.ts';
import {
  begin,
  close,
  closeOpen,
  keep,
  newState,
  readArguments,
  readCitation,
  readText,
  readThinking,
  readUsage,
  type State,
  toFinish,
} from './anthropic-answer.ts';
import type { Block } from './anthropic-blocks.ts';
import { countOf, listOf, objectIn, objectOf, textOf } from './read.ts';
import type { AnswerWriter, Decoder } from './wire.ts';

/**
 * Decodes the events of a message.
 *
 * Guarantees: blocks are identified by their index, so their deltas may be interleaved; each call has a unique id
 * within the completion; thinking becomes an item when its block has ended, and so do the calls of tools that the
 * service executes, which are reported with their results and sources.
 * Cost: one parse per event, and a copy of the completion's text for a pause.
 */
export const anthropicDecoder = (answer: AnswerWriter): Decoder => {
  const state = newState(answer);
  return {
    push: (event, data) => push(state, event, data),
    isFinished: () => state.reason !== undefined,
    whole: (json) => readWhole(state, json),
    end() {
      closeOpen(state);
      return toFinish(state);
    },
  };
};

const push = (state: State, event: string, data: string): boolean => {
  const json = objectIn(data);
  if (!json) {
    if (event === 'error' && data !== '') return fail(state, data);
    return false;
  }
  switch (event === 'error' ? event : (textOf(json.type) ?? event)) {
    case 'content_block_delta':
      readDelta(state, json, data.length);
      return false;
    case 'content_block_start':
      readStart(state, json, data.length);
      return false;
    case 'content_block_stop': {
      const block = blockAt(state, json);
      if (block) close(state, block, true);
      return false;
    }
    case 'message_start':
      readMessage(state, objectOf(json.message));
      return false;
    case 'message_delta':
      readEnd(state, objectOf(json.delta));
      readUsage(state, objectOf(json.usage), true);
      return false;
    case 'message_stop':
      state.isStopped = true;
      return true;
    case 'error':
      return fail(state, json);
    default:
      // Proxies report their own failures as an object without a type.
      return json.type === undefined && json.error != null ? fail(state, json) : false;
  }
};

/** The documented HTTP status of each error type in a response that is not a stream. */
const STATUS: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

/** An error after the end of a completion does not invalidate it. */
const fail = ({ answer, reason }: State, json: JsonObject | string): boolean => {
  if (reason !== undefined) return true;
  const error = typeof json === 'string' ? undefined : (objectOf(json.error) ?? json);
  const type = textOf(error?.type) ?? '';
  const status = STATUS.get(type);
  throw toStreamError(
    error && status !== undefined ? { message: textOf(error.message) || type, status } : json,
    answer.hasBegun(),
  );
};

const blockAt = ({ open, last }: State, { index }: JsonObject): Block | undefined => {
  if (index === undefined || last?.index === index) return last;
  return typeof index === 'number' ? open.get(index) : undefined;
};

const readMessage = (state: State, message: JsonObject | undefined): void => {
  if (!message) return;
  const id = textOf(message.id) ?? '';
  const { messageId } = state;
  // A repeated event.
  if (messageId === id) return;
  // A proxy retried in the middle: two completions in one stream are invalid.
  if (messageId !== undefined && state.answer.hasBegun()) throw interrupted('connection reset');
  state.messageId = id;
  state.startReason = textOf(message.stop_reason);
  readContainer(state, message);
  readContent(state, message.content);
  readUsage(state, objectOf(message.usage), false);
};

/** Reads blocks that arrive complete. */
const readContent = (state: State, content: unknown): void => {
  for (const each of listOf(content)) {
    const start = objectOf(each);
    if (!start) continue;
    const block = begin(state, state.blocks.length, start);
    for (const citation of listOf(start.citations)) readCitation(state, block, objectOf(citation));
    close(state, block, true);
  }
};

const readStart = (state: State, json: JsonObject, length: number): void => {
  const start = objectOf(json.content_block);
  if (!start) return;
  const index = countOf(json.index) ?? state.blocks.length;
  const before = state.open.get(index);
  keep(state, length);
  if (before) {
    // A repeated event.
    if (before.type === start.type && before.start.id === start.id) return;
    close(state, before, false);
  }
  begin(state, index, start);
};

const readDelta = (state: State, json: JsonObject, length: number): void => {
  const delta = objectOf(json.delta);
  if (!delta) return;
  const block = blockAt(state, json);
  switch (delta.type) {
    case 'text_delta':
      readText(state, block ?? implied(state, json, 'text'), textOf(delta.text) ?? '');
      break;
    case 'thinking_delta':
      readThinking(state, block ?? implied(state, json, 'thinking'), textOf(delta.thinking) ?? '');
      break;
    case 'signature_delta':
      if (block?.type === 'thinking') block.signature = textOf(delta.signature) ?? block.signature;
      break;
    case 'input_json_delta':
      if (block) readArguments(state, block, textOf(delta.partial_json) ?? '');
      break;
    case 'citations_delta':
      keep(state, length);
      readCitation(state, block, objectOf(delta.citation));
      break;
  }
};

/** Creates the block of a delta whose start was lost. */
const implied = (state: State, json: JsonObject, type: string): Block =>
  begin(state, countOf(json.index) ?? state.blocks.length, { type });

const readEnd = (state: State, delta: JsonObject | undefined): void => {
  if (!delta) return;
  state.reason = textOf(delta.stop_reason) ?? state.reason;
  state.explanation = textOf(objectOf(delta.stop_details)?.explanation) ?? state.explanation;
  readContainer(state, delta);
};

const readContainer = (state: State, { container }: JsonObject): void => {
  state.container = textOf(objectOf(container)?.id) ?? state.container;
};

const readWhole = (state: State, json: unknown): boolean => {
  const message = objectOf(json);
  if (message?.type !== 'message' || !Array.isArray(message.content)) return false;
  readContent(state, message.content);
  readEnd(state, message);
  readUsage(state, objectOf(message.usage), true);
  state.isStopped = true;
  return true;
};
