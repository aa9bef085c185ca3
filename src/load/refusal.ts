/** Why a server refused, from the beginning of the body of its answer. */

/** So much of a body is looked at. */
export const REFUSAL_BYTES = 4096;

const LONGEST = 200;

/** The text under `error`, also where that is an object with a `message`; empty when the body says no such thing. */
export const reasonIn = (body: string): string => {
  const error = at(parsed(body), 'error');
  const text = typeof error === 'string' ? error : at(error, 'message');
  return typeof text === 'string' ? text.replace(/\s+/g, ' ').trim().slice(0, LONGEST) : '';
};

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

const at = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;
