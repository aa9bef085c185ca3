import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../schema/json.ts';
import { excerpt } from '../bounds.ts';
import type { ChatOptions } from '../chat-options.ts';
import { interrupted, toStreamError } from '../classify.ts';
import { ModelError } from '../errors.ts';
import { type CallReader, createCallReader } from './openai-chat-calls.ts';
import { createReasoningReader, type ReasoningReader } from './openai-chat-reasoning.ts';
import { usageIn } from './openai-chat-usage.ts';
import { listOf, objectIn, objectOf, reportUsage, textOf } from './read.ts';
import type { AnswerWriter, Decoder, Finish } from './wire.ts';

/**
 * Reads a stream of Chat Completions, of OpenAI and of compatible services.
 *
 * Guarantees: only the first choice is read; the last finish reason counts; a chunk without known content is ignored,
 * and one that reports an error is thrown. Cost: one parse and a few reads of absent fields per chunk.
 */
export function createChatDecoder(
  answer: AnswerWriter,
  options: Pick<ChatOptions, 'reasoning' | 'reportsCost'>,
): Decoder {
  const returns = options.reasoning !== 'none';
  const reasoning = createReasoningReader(answer, returns);
  const state: State = {
    answer,
    options,
    reasoning,
    calls: createCallReader(answer, reasoning.flush, returns),
    finish: undefined,
    isDone: false,
  };
  return {
    push: (event, data) => push(state, event, data),
    isFinished: () => state.finish !== undefined,
    whole: (json) => readWhole(state, json),
    end() {
      const { finish, isDone, calls } = state;
      const reason = REASONS.get(finish ?? '');
      // The calls of a stopped completion may be incomplete in any way.
      if (reason !== 'filtered' && reason !== 'failed') calls.end();
      reasoning.flush();
      return finishOf(finish, isDone && answer.hasBegun());
    },
  };
}

type State = {
  readonly answer: AnswerWriter;
  readonly options: Pick<ChatOptions, 'reasoning' | 'reportsCost'>;
  readonly reasoning: ReasoningReader;
  readonly calls: CallReader;
  /** The last finish reason. */
  finish: string | undefined;
  /** The end marker has arrived. */
  isDone: boolean;
};

function push(state: State, event: string, data: string): boolean {
  const { answer } = state;
  if (data === DONE) {
    state.isDone = true;
    return true;
  }
  const chunk = objectIn(data) ?? unusual(event, data, answer);
  if (chunk === undefined) state.isDone ||= data.trim() === DONE;
  else if (event === 'error') throw toStreamError(chunk, answer.hasBegun());
  else readChunk(state, chunk);
  return state.isDone;
}

function readWhole(state: State, json: unknown): boolean {
  const body = objectOf(json);
  const choice = firstChoice(body?.choices);
  if (body === undefined || choice === undefined || isError(body)) return false;
  if (objectOf(choice.message) === undefined && objectOf(choice.delta) === undefined) return false;
  readChunk(state, body);
  state.isDone = true;
  return true;
}

function readChunk(state: State, chunk: JsonObject): void {
  const { answer, options } = state;
  if (isError(chunk)) throw toStreamError(chunk, answer.hasBegun());
  const usage = objectOf(chunk.usage);
  if (usage !== undefined) reportUsage(answer, usageIn(usage, options));
  const choice = firstChoice(chunk.choices);
  if (choice !== undefined) readChoice(state, choice);
}

function readChoice(state: State, choice: JsonObject): void {
  const { answer } = state;
  // A service that sends whole messages as events may send them in addition to deltas.
  const message = objectOf(choice.delta) ?? (answer.hasBegun() ? undefined : objectOf(choice.message));
  if (message !== undefined) readMessage(state, message);
  const reason = choice.finish_reason;
  if (typeof reason !== 'string' || reason === '') return;
  state.finish = reason;
  if (objectOf(choice.error)) throw toStreamError(choice, answer.hasBegun());
}

function readMessage(state: State, message: JsonObject): void {
  state.reasoning.read(message);
  const { content, refusal, tool_calls, function_call, annotations } = message;
  if (typeof content === 'string') readText(state, content);
  else if (Array.isArray(content)) for (const part of content) readPart(state, objectOf(part));
  if (typeof refusal === 'string') readText(state, refusal);
  if (Array.isArray(tool_calls)) readCalls(state.calls, tool_calls);
  const called = objectOf(function_call);
  if (called !== undefined) state.calls.readFunction(called);
  if (Array.isArray(annotations)) readAnnotations(state.answer, annotations);
}

function readText({ answer, reasoning, calls }: State, delta: string): void {
  if (delta === '') return;
  reasoning.flush();
  calls.announce();
  answer.text(delta);
}

function readCalls(calls: CallReader, deltas: readonly unknown[]): void {
  for (const each of deltas) {
    const delta = objectOf(each);
    if (delta !== undefined) calls.read(delta);
  }
}

const DONE = '[DONE]';

/** Handles data that is not a JSON object. @throws ModelError for an error, and for an incomplete chunk */
function unusual(event: string, data: string, answer: AnswerWriter): JsonObject | undefined {
  const hasBegun = answer.hasBegun();
  const text = data.trim();
  if (text.startsWith('[{')) {
    // Google reports an error as a list with one element.
    const error = objectIn(text.slice(1, -1));
    if (error !== undefined) return error;
  }
  if (event === 'error') throw toStreamError({ message: text || 'an error without words' }, hasBegun);
  if (!text.startsWith('{')) return undefined;
  if (hasBegun) throw interrupted('connection reset');
  throw new ModelError('provider', `an event of the response is not JSON: ${excerpt(text, 200)}`);
}

/** Services report an error in a chunk in several ways; `null` in such a field means no error. */
function isError(chunk: JsonObject): boolean {
  const { error } = chunk;
  if (error != null && (typeof error === 'object' || (typeof error === 'string' && error !== '')))
    return true;
  if (Array.isArray(chunk.choices)) return false;
  return (
    chunk.object === 'error' ||
    chunk.type === 'error' ||
    chunk.error_message != null ||
    chunk.errors != null ||
    chunk.detail != null
  );
}

/** The request asks for one choice; a choice with another number is ignored. */
function firstChoice(choices: unknown): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const each of choices) {
    const choice = objectOf(each);
    if (choice !== undefined && (choice.index === 0 || choice.index == null)) return choice;
  }
  return undefined;
}

/** Mistral sends content as a list of parts when the model reasons. */
function readPart(state: State, part: JsonObject | undefined): void {
  if (part?.type === 'text') readText(state, textOf(part.text) ?? '');
  else if (part?.type === 'thinking') {
    for (const each of listOf(part.thinking)) state.answer.reasoning(textOf(objectOf(each)?.text) ?? '');
  }
}

function readAnnotations(answer: AnswerWriter, annotations: readonly unknown[]): void {
  for (const each of annotations) {
    const citation = objectOf(objectOf(each)?.url_citation);
    const url = textOf(citation?.url);
    if (url === undefined || url === '') continue;
    const title = textOf(citation?.title);
    answer.source({ type: 'url', id: randomUUID(), url, ...(title && { title }) });
  }
}

/** Finish reasons of OpenAI, and of services with additional ones for cases that OpenAI does not report. */
const REASONS: ReadonlyMap<string, Finish['reason']> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'calls'],
  ['function_call', 'calls'],
  ['stop_sequence', 'stop_sequence'],
  ['content_filter', 'filtered'],
  ['sensitive', 'filtered'],
  ['error', 'failed'],
  ['network_error', 'failed'],
  ['insufficient_system_resource', 'failed'],
]);

/** `isAnswer`: the protocol's end marker arrived after some output. */
function finishOf(finish: string | undefined, isAnswer: boolean): Finish {
  if (finish !== undefined) return { reason: REASONS.get(finish) ?? 'other', raw: finish };
  return { reason: isAnswer ? 'other' : 'missing' };
}
