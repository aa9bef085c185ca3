import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../schema/json.ts';
import { excerpt } from '../bounds.ts';
import { interrupted, toStreamError } from '../classify.ts';
import { ModelError } from '../errors.ts';
import { createCallReader } from './openai-chat-calls.ts';
import type { ChatOptions } from './openai-chat-options.ts';
import { createReasoningReader } from './openai-chat-reasoning.ts';
import { usageIn } from './openai-chat-usage.ts';
import { listOf, objectIn, objectOf, reportUsage, textOf } from './read.ts';
import type { AnswerWriter, Decoder, Finish } from './wire.ts';

/**
 * Reads a stream of Chat Completions, of OpenAI and of everything that resembles it.
 *
 * Guarantees: only the first choice is read; the last finish reason counts; a chunk that holds nothing known is
 * ignored, and one that reports an error is thrown. Costs one parse and a few reads of absent fields a chunk.
 */
export function createChatDecoder(
  answer: AnswerWriter,
  options: Pick<ChatOptions, 'reasoning' | 'reportsCost'>,
): Decoder {
  const returns = options.reasoning !== 'none';
  const reasoning = createReasoningReader(answer, returns);
  const calls = createCallReader(answer, reasoning.flush, returns);
  let finish: string | undefined;
  let isDone = false;

  const text = (delta: string): void => {
    if (delta === '') return;
    reasoning.flush();
    calls.announce();
    answer.text(delta);
  };
  const readMessage = (message: JsonObject): void => {
    reasoning.read(message);
    const { content, refusal, tool_calls, function_call, annotations } = message;
    if (typeof content === 'string') text(content);
    else if (Array.isArray(content)) for (const part of content) readPart(objectOf(part), text, answer);
    if (typeof refusal === 'string') text(refusal);
    if (Array.isArray(tool_calls)) {
      for (const each of tool_calls) {
        const delta = objectOf(each);
        if (delta !== undefined) calls.read(delta);
      }
    }
    const called = objectOf(function_call);
    if (called !== undefined) calls.readFunction(called);
    if (Array.isArray(annotations)) for (const each of annotations) readAnnotation(objectOf(each), answer);
  };
  const readChoice = (choice: JsonObject): void => {
    // A service that sends whole messages as events sends some of them in addition to deltas.
    const message = objectOf(choice.delta) ?? (answer.hasBegun() ? undefined : objectOf(choice.message));
    if (message !== undefined) readMessage(message);
    const reason = choice.finish_reason;
    if (typeof reason !== 'string' || reason === '') return;
    finish = reason;
    if (objectOf(choice.error)) throw toStreamError(choice, answer.hasBegun());
  };
  const readChunk = (chunk: JsonObject): void => {
    if (isError(chunk)) throw toStreamError(chunk, answer.hasBegun());
    const usage = objectOf(chunk.usage);
    if (usage !== undefined) reportUsage(answer, usageIn(usage, options));
    const choice = firstChoice(chunk.choices);
    if (choice !== undefined) readChoice(choice);
  };
  return {
    push(event, data) {
      if (data === DONE) {
        isDone = true;
        return true;
      }
      const chunk = objectIn(data) ?? unusual(event, data, answer);
      if (chunk === undefined) isDone ||= data.trim() === DONE;
      else if (event === 'error') throw toStreamError(chunk, answer.hasBegun());
      else readChunk(chunk);
      return isDone;
    },
    isFinished: () => finish !== undefined,
    whole(json) {
      const body = objectOf(json);
      const choice = firstChoice(body?.choices);
      if (body === undefined || choice === undefined || isError(body)) return false;
      if (objectOf(choice.message) === undefined && objectOf(choice.delta) === undefined) return false;
      readChunk(body);
      isDone = true;
      return true;
    },
    end() {
      const reason = REASONS.get(finish ?? '');
      // Of an answer that was stopped the calls may be incomplete in any way.
      if (reason !== 'filtered' && reason !== 'failed') calls.end();
      reasoning.flush();
      return finishOf(finish, isDone && answer.hasBegun());
    },
  };
}

const DONE = '[DONE]';

/** Data that is no object of JSON. @throws ModelError for an error, and for a chunk that is not whole */
function unusual(event: string, data: string, answer: AnswerWriter): JsonObject | undefined {
  const begun = answer.hasBegun();
  const text = data.trim();
  if (text.startsWith('[{')) {
    // Google reports an error as a list of one.
    const error = objectIn(text.slice(1, -1));
    if (error !== undefined) return error;
  }
  if (event === 'error') throw toStreamError({ message: text || 'an error without words' }, begun);
  if (!text.startsWith('{')) return undefined;
  if (begun) throw interrupted('connection reset');
  throw new ModelError('provider', `an event of the answer is not JSON: ${excerpt(text, 200)}`);
}

/** Services report an error in a chunk in several ways; `null` in such a field means that there is none. */
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

/** Only one choice is asked for; one with another number is not part of the answer. */
function firstChoice(choices: unknown): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const each of choices) {
    const choice = objectOf(each);
    if (choice !== undefined && (choice.index === 0 || choice.index == null)) return choice;
  }
  return undefined;
}

/** Mistral sends content as a list of parts when the model reasons. */
function readPart(part: JsonObject | undefined, text: (delta: string) => void, answer: AnswerWriter): void {
  if (part?.type === 'text') text(textOf(part.text) ?? '');
  else if (part?.type === 'thinking') {
    for (const each of listOf(part.thinking)) answer.reasoning(textOf(objectOf(each)?.text) ?? '');
  }
}

function readAnnotation(annotation: JsonObject | undefined, answer: AnswerWriter): void {
  const citation = objectOf(annotation?.url_citation);
  const url = textOf(citation?.url);
  if (url === undefined || url === '') return;
  const title = textOf(citation?.title);
  answer.source({ type: 'url', id: randomUUID(), url, ...(title && { title }) });
}

/** Words of OpenAI, and of services that have words of their own for what OpenAI does not report. */
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

/** `isAnswer`: the protocol's end has come, and there is an answer before it. */
function finishOf(finish: string | undefined, isAnswer: boolean): Finish {
  if (finish !== undefined) return { reason: REASONS.get(finish) ?? 'other', raw: finish };
  return { reason: isAnswer ? 'other' : 'missing' };
}
