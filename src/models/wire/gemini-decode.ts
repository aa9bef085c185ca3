import { randomUUID } from 'node:crypto';
import { exactJson } from '../../schema/exact-integers.ts';
import type { JsonObject } from '../../schema/json.ts';
import { toStreamError } from '../classify.ts';
import { ModelError } from '../errors.ts';
import { type BuiltInCalls, createBuiltInCalls } from './gemini-built-in-tools.ts';
import { signatureOfCall, signatureOfText, signedThought } from './gemini-items.ts';
import { reportGrounding } from './gemini-sources.ts';
import { countOf, listOf, objectIn, objectOf, reportUsage, textOf } from './read.ts';
import type { AnswerWriter, Decoder, Finish } from './wire.ts';

/**
 * Decodes a stream of Gemini.
 *
 * Guarantees: parts are reported in the order of the stream; of several candidates only the first is read; a blocked
 * prompt has no completion, regardless of the rest of the stream.
 * Cost: one `JSON.parse` per event.
 */

type Answering = {
  readonly answer: AnswerWriter;
  readonly builtIn: BuiltInCalls;
  /** Ids of the calls of this completion. */
  ids: Set<string> | undefined;
  /** Sources reported so far; each chunk repeats the list. */
  sources: Set<string> | undefined;
  /** The reason for which the prompt was blocked. */
  blocked: string | undefined;
  /** The provider's finish reason and its explanation. */
  finish: string | undefined;
  explained: string | undefined;
  /** The token that a request for the rest of the completion must contain. */
  continuation: string | undefined;
};

export const decodeGemini = (answer: AnswerWriter): Decoder => {
  const answering: Answering = {
    answer,
    builtIn: createBuiltInCalls(answer),
    ids: undefined,
    sources: undefined,
    blocked: undefined,
    finish: undefined,
    explained: undefined,
    continuation: undefined,
  };
  return {
    push(event, data) {
      // The protocol has no such event, but services that translate to it send one.
      if (data === '[DONE]') return true;
      const chunk = objectIn(data);
      if (!chunk) return false;
      if (isFailure(chunk, event)) throw toStreamError(withStatus(chunk), answer.hasBegun());
      readChunk(answering, chunk);
      return false;
    },
    isFinished: () => answering.finish !== undefined || answering.blocked !== undefined,
    whole(json) {
      // Without `alt=sse` the chunks are an array.
      const chunks = (Array.isArray(json) ? json : [json]).map(objectOf);
      if (!chunks.some((chunk) => chunk && isAnswer(chunk))) return false;
      if (chunks.some((chunk) => chunk && isFailure(chunk, ''))) return false;
      for (const chunk of chunks) if (chunk) readChunk(answering, chunk);
      return true;
    },
    end() {
      answering.builtIn.end();
      return finishOf(answering);
    },
  };
};

const isFailure = ({ error }: JsonObject, event: string): boolean =>
  event === 'error' || objectOf(error) !== undefined || (typeof error === 'string' && error !== '');

const isAnswer = ({ candidates, promptFeedback }: JsonObject): boolean =>
  objectOf(listOf(candidates)[0]) !== undefined || blockReasonOf(promptFeedback) !== undefined;

/** HTTP statuses of canonical codes (google.rpc.Code), for errors that name only the code. */
const STATUS: ReadonlyMap<unknown, number> = new Map([
  ['CANCELLED', 499],
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['ABORTED', 409],
  ['ALREADY_EXISTS', 409],
  ['RESOURCE_EXHAUSTED', 429],
  ['INTERNAL', 500],
  ['UNKNOWN', 500],
  ['DATA_LOSS', 500],
  ['UNIMPLEMENTED', 501],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
]);

/** Reduces an error's code to a numeric status, so that its message does not repeat the code. */
const withStatus = (chunk: JsonObject): JsonObject => {
  const error = objectOf(chunk.error);
  if (!error) return chunk;
  const { code, status: name, ...rest } = error;
  // Some services put the number of the canonical code here.
  const status = typeof code === 'number' && code >= 400 ? code : STATUS.get(name);
  return { error: status === undefined ? error : { ...rest, status } };
};

const readChunk = (answering: Answering, chunk: JsonObject): void => {
  readUsage(answering.answer, objectOf(chunk.usageMetadata));
  answering.blocked ??= blockReasonOf(chunk.promptFeedback);
  if (answering.blocked !== undefined) return;
  const candidate = firstCandidate(chunk.candidates);
  if (!candidate) return;
  const grounding = objectOf(candidate.groundingMetadata);
  if (grounding) {
    answering.sources ??= new Set();
    reportGrounding(answering.answer, grounding, answering.sources);
  }
  for (const part of listOf(objectOf(candidate.content)?.parts)) {
    const read = objectOf(part);
    if (read) readPart(answering, read);
  }
  answering.builtIn.metadata(candidate);
  const finish = textOf(candidate.finishReason);
  if (finish && finish !== 'FINISH_REASON_UNSPECIFIED') answering.finish = finish;
  answering.explained = textOf(candidate.finishMessage) ?? answering.explained;
  answering.continuation = textOf(candidate.continuationToken) ?? answering.continuation;
};

const firstCandidate = (candidates: unknown): JsonObject | undefined => {
  for (const each of listOf(candidates)) {
    const candidate = objectOf(each);
    if (candidate && (candidate.index == null || candidate.index === 0)) return candidate;
  }
  return undefined;
};

/** The JSON of this protocol omits fields with the value 0. */
const readUsage = (answer: AnswerWriter, usage: JsonObject | undefined): void => {
  if (!usage) return;
  const prompt = countOf(usage.promptTokenCount);
  const written = countOf(usage.candidatesTokenCount);
  const thinking = countOf(usage.thoughtsTokenCount);
  if (prompt === undefined && written === undefined && thinking === undefined) return;
  reportUsage(answer, {
    prompt: prompt ?? 0,
    completion: (written ?? 0) + (thinking ?? 0),
    cacheRead: countOf(usage.cachedContentTokenCount),
    thinking,
  });
};

const blockReasonOf = (given: unknown): string | undefined => {
  const feedback = objectOf(given);
  const reason = textOf(feedback?.blockReason);
  if (!reason || /^BLOCK(ED)?_REASON_UNSPECIFIED$/.test(reason)) return undefined;
  return explainedBy(reason, textOf(feedback?.blockReasonMessage));
};

const explainedBy = (reason: string, detail: string | undefined): string =>
  detail ? `${reason}: ${detail}` : reason;

const readPart = (answering: Answering, part: JsonObject): void => {
  const { answer, builtIn } = answering;
  const text = textOf(part.text);
  if (text === undefined && builtIn.part(part)) return;
  const signature = textOf(part.thoughtSignature) || undefined;
  const call = objectOf(part.functionCall);
  const file = objectOf(part.inlineData);
  if (call) readCall(answering, call, signature);
  else if (file) readFile(answer, file);
  else if (part.thought === true) readThought(answer, text ?? '', signature);
  else if (text !== undefined || Object.keys(part).length === 1) {
    if (signature !== undefined) answer.reasoningItem(signatureOfText(signature, text ?? ''));
    answer.text(text ?? '');
  }
};

const readFile = (answer: AnswerWriter, file: JsonObject): void => {
  const mediaType = textOf(file.mimeType);
  const data = textOf(file.data);
  if (mediaType !== undefined && data !== undefined) answer.file(mediaType, data);
};

const readThought = (answer: AnswerWriter, text: string, signature: string | undefined): void => {
  answer.reasoning(text);
  if (signature === undefined) return;
  answer.reasoningEncrypted(signature);
  answer.reasoningItem(signedThought(signature, text));
};

const readCall = (answering: Answering, call: JsonObject, signature: string | undefined): void => {
  const { answer } = answering;
  const name = textOf(call.name);
  // A call without a name is reported, so that the model is informed of its mistake; an empty object is not a call.
  if (name === undefined && objectOf(call.args) === undefined) return;
  if (call.partialArgs != null || call.willContinue === true)
    throw new ModelError('provider', 'the arguments of a call arrived in parts, which was not requested', {
      final: true,
    });
  if (signature !== undefined) answer.reasoningItem(signatureOfCall(signature));
  const id = idOf(answering, textOf(call.id));
  answer.callStart(id, name ?? '');
  const args = argumentsOf(call.args);
  if (call.args != null) answer.callDelta(id, args);
  answer.callEnd(id, args);
};

const argumentsOf = (args: unknown): string => {
  const object = objectOf(args);
  if (object) return exactJson(object);
  return typeof args === 'string' ? args : JSON.stringify(args ?? {});
};

/** Replaces an id that another call of the completion already has. */
const idOf = (answering: Answering, given: string | undefined): string => {
  answering.ids ??= new Set();
  const id = given && !answering.ids.has(given) ? given : `call_${randomUUID()}`;
  answering.ids.add(id);
  return id;
};

const REASON: ReadonlyMap<string, Finish['reason']> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ['SAFETY', 'filtered'],
  ['RECITATION', 'filtered'],
  ['LANGUAGE', 'filtered'],
  ['BLOCKLIST', 'filtered'],
  ['PROHIBITED_CONTENT', 'filtered'],
  ['SPII', 'filtered'],
  ['MODEL_ARMOR', 'filtered'],
  ['IMAGE_SAFETY', 'filtered'],
  ['IMAGE_PROHIBITED_CONTENT', 'filtered'],
  ['IMAGE_RECITATION', 'filtered'],
  ['MALFORMED_FUNCTION_CALL', 'failed'],
  ['MALFORMED_RESPONSE', 'failed'],
  ['UNEXPECTED_TOOL_CALL', 'failed'],
  ['TOO_MANY_TOOL_CALLS', 'failed'],
  ['MISSING_THOUGHT_SIGNATURE', 'failed'],
  ['NO_IMAGE', 'failed'],
  ['IMAGE_OTHER', 'failed'],
]);

const finishOf = ({ answer, blocked, finish, explained, continuation }: Answering): Finish => {
  if (blocked !== undefined) return { reason: 'filtered', raw: blocked };
  if (finish === undefined) return { reason: 'missing' };
  if (finish === 'CONTINUATION' && continuation !== undefined)
    return { reason: 'paused', raw: finish, pause: { continuationToken: continuation } };
  const reason = REASON.get(finish) ?? 'other';
  // An end without a known reason, before any output, is not a completion.
  if (reason === 'other' && !answer.hasBegun())
    return { reason: 'failed', raw: explainedBy(finish, explained) };
  return { reason, raw: explainedBy(finish, explained) };
};
