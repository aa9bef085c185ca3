import { jsonOrUndefined } from '../schema/json-or-undefined.ts';

/** Extracts the reason of a rejection from the start of the response body. */

/** Maximum number of body bytes that are examined. */
export const REFUSAL_BYTES = 4096;

const LONGEST = 200;

/** The text under `error`, or its `message` if it is an object; empty if the body has neither. */
export const reasonIn = (body: string): string => {
  const error = at(jsonOrUndefined(body), 'error');
  const text = typeof error === 'string' ? error : at(error, 'message');
  return typeof text === 'string' ? text.replace(/\s+/g, ' ').trim().slice(0, LONGEST) : '';
};

const at = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;
