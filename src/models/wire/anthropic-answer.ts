import type { JsonObject } from '../../schema/json.ts';
import { BOUNDS } from '../bounds.ts';
import { ModelError } from '../errors.ts';
import type { InferenceSource } from '../model.ts';
import {
  argumentsOf,
  type Block,
  newBlock,
  sentBack,
  sourcesOfCitation,
  sourcesOfResult,
  thinkingItem,
  toContent,
} from './anthropic-blocks.ts';
import { callEnded, isResultBlock, startedCall, toolOfBlock } from './anthropic-server-tools.ts';
import { countOf, objectOf, reportUsage, textOf } from './read.ts';
import type { AnswerWriter, Finish } from './wire.ts';

/** The state of an assistant message while it is received: its blocks, its tokens and its end. */

export type State = {
  readonly answer: AnswerWriter;
  /** Blocks in order. */
  readonly blocks: Block[];
  readonly open: Map<number, Block>;
  /** The block of events without an index, and of nearly all events with one. */
  last: Block | undefined;
  readonly callIds: Set<string>;
  readonly sources: Set<string>;
  messageId: string | undefined;
  /** Token counts; `input` does not include the cache. */
  input: number | undefined;
  cacheRead: number | undefined;
  cacheWrite: number | undefined;
  /** The part of `cacheWrite` that the provider keeps for an hour. */
  cacheWriteHour: number | undefined;
  /** The stop reason in the `message_start` of a completion that was already complete. */
  startReason: string | undefined;
  reason: string | undefined;
  explanation: string | undefined;
  isStopped: boolean;
  /** The container that executes code; a completion continues in it after a pause. */
  container: string | undefined;
  /** Characters of the data that is kept only for a pause. */
  kept: number;
};

export const newState = (answer: AnswerWriter): State => ({
  answer,
  blocks: [],
  open: new Map(),
  last: undefined,
  callIds: new Set(),
  sources: new Set(),
  messageId: undefined,
  input: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  cacheWriteHour: undefined,
  startReason: undefined,
  reason: undefined,
  explanation: undefined,
  isStopped: false,
  container: undefined,
  kept: 0,
});

export const begin = (state: State, index: number, start: JsonObject): Block => {
  const block = newBlock(index, start);
  state.blocks.push(block);
  state.open.set(index, block);
  state.last = block;
  switch (block.type) {
    case 'text':
      readText(state, block, textOf(start.text) ?? '');
      break;
    case 'thinking':
      readThinking(state, block, textOf(start.thinking) ?? '');
      break;
    case 'tool_use':
      block.id = callId(state, textOf(start.id) ?? '');
      state.answer.callStart(block.id, block.name);
      break;
    default:
      beginServerBlock(state, start);
  }
  return block;
};

/** A result is complete at its start; the arguments of a call follow. */
const beginServerBlock = (state: State, start: JsonObject): void => {
  const tool = toolOfBlock(start);
  if (tool === undefined) return;
  const isResult = isResultBlock(start);
  state.answer.providerCall(isResult ? callEnded(start, tool) : startedCall(start, tool, undefined));
  for (const source of sourcesOfResult(start)) report(state, source);
};

/** Other services omit ids or repeat them. */
const callId = ({ callIds }: State, given: string): string => {
  const base = given.trim() === '' ? 'call' : given;
  let id = base;
  for (let count = 1; callIds.has(id) || id === 'call'; count += 1) id = `${base}_${count}`;
  callIds.add(id);
  return id;
};

export const readText = ({ answer }: State, block: Block, delta: string): void => {
  block.text += delta;
  answer.text(delta);
};

export const readThinking = ({ answer }: State, block: Block, delta: string): void => {
  block.text += delta;
  answer.reasoning(delta);
};

export const readArguments = (state: State, block: Block, delta: string): void => {
  block.args += delta;
  if (block.type === 'tool_use') state.answer.callDelta(block.id, delta);
  else keep(state, delta.length);
};

export const readCitation = (
  state: State,
  block: Block | undefined,
  citation: JsonObject | undefined,
): void => {
  if (!citation) return;
  block?.citations.push(citation);
  for (const source of sourcesOfCitation(citation)) report(state, source);
};

/** Reports each source once, because a completion may cite the same page many times. */
const report = ({ answer, sources }: State, source: InferenceSource): void => {
  if (sources.has(source.id)) return;
  sources.add(source.id);
  answer.source(source);
};

/** Counts characters that are kept but not passed to the writer. @throws ModelError */
export const keep = (state: State, length: number): void => {
  state.kept += length;
  if (state.kept <= BOUNDS.answerLength) return;
  throw new ModelError('provider', `the completion has more than ${BOUNDS.answerLength} characters`, {
    final: true,
  });
};

/**
 * `isWhole`: the service reported the end of the block. Thinking that was neither ended nor signed was cut off and is
 * dropped.
 */
export const close = (state: State, block: Block, isWhole: boolean): void => {
  const { answer, open } = state;
  if (open.get(block.index) === block) open.delete(block.index);
  if (state.last === block) state.last = undefined;
  switch (block.type) {
    case 'tool_use':
      if (block.args === '') answer.callDelta(block.id, block.given);
      answer.callEnd(block.id, argumentsOf(block));
      break;
    case 'thinking':
    case 'redacted_thinking':
      closeThinking(state, block, isWhole);
      break;
    default:
      closeServerBlock(state, block, isWhole);
  }
};

/** The body has ended. */
export const closeOpen = (state: State): void => {
  for (const block of state.open.values()) close(state, block, false);
  state.open.clear();
};

const closeThinking = ({ answer }: State, block: Block, isWhole: boolean): void => {
  const item = isWhole || block.signature !== '' ? thinkingItem(block) : undefined;
  if (!item) return;
  answer.reasoningEncrypted(textOf(item.signature) ?? textOf(item.data) ?? '');
  answer.reasoningItem(item);
};

/** A call with truncated arguments is not sent back. */
const closeServerBlock = ({ answer }: State, block: Block, isWhole: boolean): void => {
  const tool = toolOfBlock(block.start);
  const item = tool !== undefined && isWhole ? sentBack(block) : undefined;
  if (tool === undefined || !item) return;
  if (!isResultBlock(item)) answer.providerCall(startedCall(item, tool, objectOf(item.input)));
  answer.reasoningItem(item, tool);
};

/**
 * Counts grow during a completion; some proxies write 0 for a missing count, so it does not replace an earlier count.
 */
export const readUsage = (state: State, usage: JsonObject | undefined, isEnd: boolean): void => {
  if (!usage) return;
  state.input = countOf(usage.input_tokens) || state.input;
  state.cacheRead = countOf(usage.cache_read_input_tokens) || state.cacheRead;
  state.cacheWrite = countOf(usage.cache_creation_input_tokens) || state.cacheWrite;
  const byLife = objectOf(usage.cache_creation);
  state.cacheWriteHour = countOf(byLife?.ephemeral_1h_input_tokens) || state.cacheWriteHour;
  const { input, cacheRead, cacheWrite, cacheWriteHour } = state;
  const isCounted = input !== undefined || cacheRead !== undefined || cacheWrite !== undefined;
  reportUsage(state.answer, {
    prompt: isCounted ? (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) : countOf(usage.input_tokens),
    cacheRead,
    cacheWrite,
    cacheWriteHour,
    // The count at the start covers only the first token; it must not be reported for an interrupted completion.
    completion: isEnd ? countOf(usage.output_tokens) : undefined,
    thinking: countOf(objectOf(usage.output_tokens_details)?.thinking_tokens),
  });
};

/**
 * A completion that has filled the context window ends like one that has reached `max_tokens`: its content is valid,
 * and the next request either fits or is an overflow, which triggers a compaction.
 */
const REASONS: ReadonlyMap<string, Finish['reason']> = new Map([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['stop_sequence', 'stop_sequence'],
  ['tool_use', 'calls'],
  ['refusal', 'filtered'],
]);

export const toFinish = (state: State): Finish => {
  const { answer, explanation, blocks } = state;
  const raw = state.reason ?? (state.isStopped ? state.startReason : undefined);
  if (raw === undefined) {
    // The service has ended its message but reported no reason.
    return { reason: state.isStopped && answer.hasBegun() ? 'other' : 'missing' };
  }
  if (raw === 'pause_turn') {
    const content = toContent(blocks);
    // Calls need their results before the message can be continued.
    if (state.callIds.size > 0) return { reason: 'calls', raw };
    if (content.length === 0) return { reason: 'other', raw };
    const { container } = state;
    return { reason: 'paused', raw, pause: { content, ...(container !== undefined && { container }) } };
  }
  const reason = REASONS.get(raw) ?? 'other';
  return { reason, raw: reason === 'filtered' && explanation ? `${raw}: ${explanation}` : raw };
};
