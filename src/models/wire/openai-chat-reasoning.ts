import type { JsonObject } from '../../schema/json.ts';
import { BOUNDS } from '../bounds.ts';
import { listOf, objectOf, textOf } from './read.ts';
import type { AnswerWriter } from './wire.ts';

/**
 * Reasoning of Chat Completions, which has no field for it: each service streams it under a name of its choice, and
 * some reject the next request unless the message has it under the same name, whole and unchanged.
 *
 * Guarantees: readers receive each text once, also where a service repeats it under a second name. What the provider
 * wants back becomes one item at the end of the reasoning; reasoning behind text or calls becomes another item, and
 * `joinReasoning` makes one field of all of them.
 */

/** Fields that hold a text. Readers are shown the first one that has any. */
const TEXTS = ['reasoning_content', 'reasoning', 'thinking'] as const;

type Kept = Record<(typeof TEXTS)[number], string> & { details: JsonObject[] };

export type ReasoningReader = {
  read(delta: JsonObject): void;
  /** The reasoning is over: text, a call or the end follows. */
  flush(): void;
};

/** `returns`: the provider is sent its reasoning again. */
export function createReasoningReader(answer: AnswerWriter, returns: boolean): ReasoningReader {
  let kept: Kept | undefined;
  let length = 0;
  const keep = (): Kept => {
    kept ??= { reasoning_content: '', reasoning: '', thinking: '', details: [] };
    return kept;
  };
  const flush = (): void => {
    if (kept === undefined) return;
    const { details, ...texts } = kept;
    kept = undefined;
    length = 0;
    const named = Object.entries(texts).filter(([, text]) => text !== '');
    answer.reasoningItem({
      ...Object.fromEntries(named),
      ...(details.length > 0 && { reasoning_details: details }),
    });
  };
  return {
    read(delta) {
      let shown = '';
      for (const name of TEXTS) {
        const text = delta[name];
        if (typeof text !== 'string' || text === '') continue;
        shown ||= text;
        if (!returns) continue;
        keep()[name] += text;
        length += text.length;
      }
      const details = delta.reasoning_details;
      if (Array.isArray(details)) {
        for (const each of details) {
          const detail = objectOf(each);
          if (detail === undefined) continue;
          if (returns) length += keepDetail(keep().details, detail);
        }
        shown ||= wordsOf(details);
      }
      if (shown !== '') answer.reasoning(shown);
      // The item is longer than an answer may be, which the writer reports.
      if (length > BOUNDS.answerLength) flush();
    },
    flush,
  };
}

const wordsOf = (details: readonly unknown[]): string =>
  details
    .map((each) => {
      const detail = objectOf(each);
      return textOf(detail?.text) ?? textOf(detail?.summary) ?? '';
    })
    .join('');

const LENGTH_WITHOUT_TEXT = 64;

/** Joins fragments of one detail. Returns how much longer the list became. */
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

/** A fragment has the type, the place and the id of what it continues; an encrypted detail comes complete. */
const continues = (last: JsonObject, { type, index, id, data }: JsonObject): boolean =>
  last.type === type &&
  last.index === index &&
  data === undefined &&
  last.data === undefined &&
  (id == null || last.id == null || last.id === id) &&
  // A signature ends what it signs.
  last.signature == null;

/** The fields of a message that return its reasoning. */
export function joinReasoning(items: readonly JsonObject[]): JsonObject {
  const joined: JsonObject = {};
  for (const item of items) {
    for (const name of TEXTS) {
      const text = textOf(item[name]);
      if (text !== undefined) joined[name] = `${textOf(joined[name]) ?? ''}${text}`;
    }
    const details = listOf(item.reasoning_details);
    // Stored as JSON.
    if (details.length > 0) {
      joined.reasoning_details = [...listOf(joined.reasoning_details), ...details] as JsonObject[];
    }
  }
  return joined;
}
