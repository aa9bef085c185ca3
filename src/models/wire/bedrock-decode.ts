import type { JsonObject } from '../../schema/json.ts';
import { toStreamError } from '../classify.ts';
import {
  begin,
  close,
  closeOpen,
  newState,
  readArguments,
  readText,
  readThinking,
  type State,
  toFinish,
} from './anthropic-answer.ts';
import type { Block } from './anthropic-blocks.ts';
import { countOf, listOf, objectIn, objectOf, reportUsage, textOf } from './read.ts';
import type { AnswerWriter, Decoder, Finish } from './wire.ts';

/**
 * Decodes events of ConverseStream. Its blocks correspond to those of the Messages protocol under other names, so both
 * decoders share the same state; here only calls have a start event.
 */
export const bedrockDecoder = (answer: AnswerWriter): Decoder => {
  const state = newState(answer);
  return {
    push: (event, data) => push(state, event, data),
    isFinished: () => state.reason !== undefined,
    whole: (json) => readWhole(state, json),
    end() {
      closeOpen(state);
      return finished(state);
    },
  };
};

const EXCEPTION = 'exception:';

const push = (state: State, event: string, data: string): boolean => {
  const json = objectIn(data);
  if (event === 'error') return fail(state, json, '');
  if (event.startsWith(EXCEPTION)) return fail(state, json, event.slice(EXCEPTION.length));
  if (!json) return false;
  switch (event) {
    case 'contentBlockDelta':
      readDelta(state, indexOf(state, json), objectOf(json.delta));
      return false;
    case 'contentBlockStart':
      readStart(state, indexOf(state, json), objectOf(objectOf(json.start)?.toolUse));
      return false;
    case 'contentBlockStop': {
      const block = state.open.get(indexOf(state, json));
      if (block) close(state, block, true);
      return false;
    }
    case 'messageStop':
      state.reason = textOf(json.stopReason) ?? state.reason;
      return false;
    case 'metadata':
      readUsage(state, objectOf(json.usage));
      return state.reason !== undefined;
    default:
      return false;
  }
};

/** The HTTP status of each exception in a response that is not a stream. */
const STATUS: ReadonlyMap<string, number> = new Map([
  ['accessDeniedException', 403],
  ['internalServerException', 500],
  ['modelNotReadyException', 503],
  ['modelStreamErrorException', 500],
  ['modelTimeoutException', 408],
  ['resourceNotFoundException', 404],
  ['serviceUnavailableException', 503],
  ['throttlingException', 429],
  ['validationException', 400],
]);

/** An exception after the end of a completion does not invalidate it. */
const fail = ({ answer, reason }: State, json: JsonObject | undefined, type: string): boolean => {
  if (reason !== undefined) return true;
  const message = textOf(json?.message) || textOf(json?.originalMessage) || type || 'an error without words';
  const status = STATUS.get(type) ?? 500;
  throw toStreamError({ message, status }, answer.hasBegun());
};

const indexOf = ({ blocks }: State, { contentBlockIndex }: JsonObject): number =>
  countOf(contentBlockIndex) ?? Math.max(0, blocks.length - 1);

const readStart = (state: State, index: number, call: JsonObject | undefined): void => {
  if (!call || state.open.has(index)) return;
  begin(state, index, { type: 'tool_use', id: textOf(call.toolUseId) ?? '', name: textOf(call.name) ?? '' });
};

const blockAt = (state: State, index: number, type: Block['type']): Block => {
  const open = state.last?.index === index ? state.last : state.open.get(index);
  if (open?.type === type) return open;
  if (open) close(state, open, true);
  return begin(state, index, { type });
};

const readDelta = (state: State, index: number, delta: JsonObject | undefined): void => {
  if (!delta) return;
  if (typeof delta.text === 'string') {
    readText(state, blockAt(state, index, 'text'), delta.text);
    return;
  }
  const reasoning = objectOf(delta.reasoningContent);
  if (reasoning) {
    readReasoning(state, index, reasoning);
    return;
  }
  const block = state.open.get(index);
  const input = textOf(objectOf(delta.toolUse)?.input);
  if (block?.type === 'tool_use' && input !== undefined) readArguments(state, block, input);
};

const readReasoning = (state: State, index: number, reasoning: JsonObject): void => {
  const { text, signature, redactedContent } = reasoning;
  if (typeof redactedContent === 'string') {
    const block = begin(state, index, { type: 'redacted_thinking', data: redactedContent });
    close(state, block, true);
    return;
  }
  const block = blockAt(state, index, 'thinking');
  if (typeof text === 'string') readThinking(state, block, text);
  if (typeof signature === 'string') block.signature += signature;
};

/** The input count does not include cache tokens. */
const readUsage = ({ answer }: State, usage: JsonObject | undefined): void => {
  if (!usage) return;
  const input = countOf(usage.inputTokens);
  const cacheRead = countOf(usage.cacheReadInputTokens);
  const cacheWrite = countOf(usage.cacheWriteInputTokens);
  reportUsage(answer, {
    prompt: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    completion: countOf(usage.outputTokens),
    cacheRead,
    cacheWrite,
  });
};

/** Stop reasons of Converse that the Messages protocol does not have. */
const REASONS: ReadonlyMap<string, Finish['reason']> = new Map([
  ['guardrail_intervened', 'filtered'],
  ['content_filtered', 'filtered'],
  ['malformed_model_output', 'failed'],
  ['malformed_tool_use', 'failed'],
]);

const finished = (state: State): Finish => {
  const { reason: raw } = state;
  const own = raw === undefined ? undefined : REASONS.get(raw);
  return own !== undefined && raw !== undefined ? { reason: own, raw } : toFinish(state);
};

/** Reads a Converse response, which some gateways return although a stream was requested. */
const readWhole = (state: State, json: unknown): boolean => {
  const body = objectOf(json);
  const message = objectOf(objectOf(body?.output)?.message);
  if (!body || !message) return false;
  for (const [index, each] of listOf(message.content).entries())
    readBlock(state, index, objectOf(each) ?? {});
  state.reason = textOf(body.stopReason);
  readUsage(state, objectOf(body.usage));
  return true;
};

const readBlock = (state: State, index: number, block: JsonObject): void => {
  const call = objectOf(block.toolUse);
  const reasoning = objectOf(block.reasoningContent);
  if (call) {
    readStart(state, index, call);
    readDelta(state, index, { toolUse: { input: JSON.stringify(objectOf(call.input) ?? {}) } });
  } else if (reasoning) readReasoning(state, index, objectOf(reasoning.reasoningText) ?? reasoning);
  else readDelta(state, index, block);
  const open = state.open.get(index);
  if (open) close(state, open, true);
};
