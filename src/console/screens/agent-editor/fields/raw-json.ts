import { isObject, type JsonObject } from '../../../data/guard.ts';
import { fromEditable, MovedSecret, toEditable } from '../../../data/redaction.ts';
import { type Draft, same } from '../../../data/spec.ts';
import { FIXED } from '../draft.ts';

/** Converts a draft to editable text and back (console.md 4.3.4). */

export const rawText = (draft: Draft): string => JSON.stringify(toEditable(draft).value, null, 2);

export type Reading =
  | { draft: Draft }
  | {
      problem: 'raw.syntax' | 'raw.object' | 'raw.unknown' | 'raw.locked' | 'raw.secret';
      what: string;
    };

/**
 * @param allowed top-level fields that are accepted in addition to those of the draft
 * @param locked fields that must not change
 */
export const readRaw = (
  text: string,
  draft: Draft,
  { locked, allowed }: { locked: readonly string[]; allowed: readonly string[] },
): Reading => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: 'raw.syntax', what: error instanceof Error ? error.message : '' };
  }
  if (!isObject(value)) return { problem: 'raw.object', what: '' };
  const unknown = Object.keys(value).filter((field) => !allowed.includes(field) && !(field in draft));
  if (unknown.length > 0) return { problem: 'raw.unknown', what: unknown.join(', ') };
  return restored(value, draft, locked);
};

const restored = (value: JsonObject, draft: Draft, locked: readonly string[]): Reading => {
  try {
    const spec = fromEditable(value, toEditable(draft).secrets);
    if (!isObject(spec)) return { problem: 'raw.object', what: '' };
    const moved = locked.filter((field) => !same(spec[field], draft[field]));
    if (moved.length > 0) return { problem: 'raw.locked', what: moved.join(', ') };
    return { draft: { ...spec, id: typeof spec.id === 'string' ? spec.id : '' } };
  } catch (error) {
    if (error instanceof MovedSecret) return { problem: 'raw.secret', what: error.path };
    throw error;
  }
};

/** Fields that cannot be changed here. The id of a new agent can, and the endpoint that an operator entered. */
export const lockedFields = (isNew: boolean, isEntered: boolean): string[] =>
  FIXED.filter((field) => !(isNew && field === 'id') && !(isEntered && field === 'endpoint'));
