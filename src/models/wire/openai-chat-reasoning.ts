import type { JsonObject } from '../../schema/json.ts';
import { BOUNDS } from '../bounds.ts';
import { listOf, objectOf, textOf } from './read.ts';
import type { AnswerWriter } from './wire.ts';

/**
 * Reasoning in Chat Completions, which define no field for it: each service streams it under a different name, and some
 * reject the next request unless the message contains it under the same name, complete and unchanged.
 *
 * Guarantees: readers receive each text once, even if a service repeats it under a second name. The data that the
 * provider requires back becomes one item at the end of the reasoning; reasoning after text or calls becomes another
 * item, and `joinReasoning` combines all of them into one field.
 */

/** Text fields. Readers receive the first non-empty one. */
const TEXTS = ['reasoning_content', 'reasoning', 'thinking'] as const;

type Kept = Record<(typeof TEXTS)[number], string> & { details: JsonObject[] };

export type ReasoningReader = {
  read(delta: JsonObject): void;
  /** Ends the reasoning, because text, a call or the end follows. */
  flush(): void;
};

/** `returns`: whether the reasoning is sent back to the provider. */
export function createReasoningReader(answer: AnswerWriter, returns: boolean): ReasoningReader {
  const state: State = { answer, returns, kept: undefined, length: 0 };
  return {
    read: (delta) => read(state, delta),
    flush: () => flush(state),
  };
}

type State = {
  readonly answer: AnswerWriter;
  readonly returns: boolean;
  /** The data of the next item. */
  kept: Kept | undefined;
  /** Characters in the next item. */
  length: number;
};

function read(state: State, delta: JsonObject): void {
  let shown = readTexts(state, delta);
  const details = delta.reasoning_details;
  if (Array.isArray(details)) {
    if (state.returns) keepDetails(state, details);
    shown ||= textOfDetails(details);
  }
  if (shown !== '') state.answer.reasoning(shown);
  // The item exceeds the limit of a completion, which the writer reports.
  if (state.length > BOUNDS.answerLength) flush(state);
}

/** Returns the text that readers receive. */
function readTexts(state: State, delta: JsonObject): string {
  let shown = '';
  for (const name of TEXTS) {
    const text = delta[name];
    if (typeof text !== 'string' || text === '') continue;
    shown ||= text;
    if (!state.returns) continue;
    openItem(state)[name] += text;
    state.length += text.length;
  }
  return shown;
}

function keepDetails(state: State, details: readonly unknown[]): void {
  for (const each of details) {
    const detail = objectOf(each);
    if (detail !== undefined) state.length += keepDetail(openItem(state).details, detail);
  }
}

function openItem(state: State): Kept {
  state.kept ??= { reasoning_content: '', reasoning: '', thinking: '', details: [] };
  return state.kept;
}

function flush(state: State): void {
  if (state.kept === undefined) return;
  const { details, ...texts } = state.kept;
  state.kept = undefined;
  state.length = 0;
  const named = Object.entries(texts).filter(([, text]) => text !== '');
  state.answer.reasoningItem({
    ...Object.fromEntries(named),
    ...(details.length > 0 && { reasoning_details: details }),
  });
}

const textOfDetails = (details: readonly unknown[]): string =>
  details
    .map((each) => {
      const detail = objectOf(each);
      return textOf(detail?.text) ?? textOf(detail?.summary) ?? '';
    })
    .join('');

const LENGTH_WITHOUT_TEXT = 64;

/** Joins fragments of one detail. Returns the number of added characters. */
function keepDetail(details: JsonObject[], detail: JsonObject): number {
  const last = details.at(-1);
  let length = LENGTH_WITHOUT_TEXT;
  for (const value of Object.values(detail)) if (typeof value === 'string') length += value.length;
  if (last === undefined || !continues(last, detail)) {
    details.push({ ...detail });
    return length;
  }
  for (const [key, value] of Object.entries(detail)) {
    const before = last[key];
    const isPiece = key === 'text' || key === 'summary';
    if (isPiece && typeof before === 'string' && typeof value === 'string') last[key] = before + value;
    else if (value !== null) last[key] = value;
  }
  return length;
}

/** A fragment has the type, index and id of the detail that it continues; an encrypted detail arrives complete. */
const continues = (last: JsonObject, { type, index, id, data }: JsonObject): boolean =>
  last.type === type &&
  last.index === index &&
  data === undefined &&
  last.data === undefined &&
  (id == null || last.id == null || last.id === id) &&
  // A signature ends the detail that it signs.
  last.signature == null;

/** The message fields that return its reasoning. */
export function joinReasoning(items: readonly JsonObject[]): JsonObject {
  const joined: JsonObject = {};
  for (const item of items) {
    for (const name of TEXTS) {
      const text = textOf(item[name]);
      if (text !== undefined) joined[name] = `${textOf(joined[name]) ?? ''}${text}`;
    }
    const details = listOf(item.reasoning_details);
    // The details are stored JSON.
    if (details.length > 0) {
      joined.reasoning_details = [...listOf(joined.reasoning_details), ...details] as JsonObject[];
    }
  }
  return joined;
}
