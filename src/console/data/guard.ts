/**
 * Lightweight checks of responses. A guard checks the fields that a screen reads, leaves all others alone, and reports
 * the path of an unexpected value, so that a screen shows an error instead of a blank page.
 */
export type Guard<T> = (value: unknown, at: string) => T;

/** The console cannot read a value. The message contains its path in the response. */
export class ShapeError extends Error {
  constructor(at: string, expected: string) {
    super(`${at || 'the answer'} is not ${expected}`);
    this.name = 'ShapeError';
  }
}

export type Guarded<G> = G extends Guard<infer T> ? T : never;

const primitive =
  <T>(type: string, expected: string): Guard<T> =>
  (value, at) => {
    if (typeof value !== type) throw new ShapeError(at, expected);
    // The `typeof` check above proves this.
    return value as T;
  };

export const text: Guard<string> = primitive('string', 'a text');
export const number: Guard<number> = primitive('number', 'a number');
export const flag: Guard<boolean> = primitive('boolean', 'true or false');
export const anything: Guard<unknown> = (value) => value;

export type JsonObject = { [key: string]: unknown };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const anyObject: Guard<JsonObject> = (value, at) => {
  if (!isObject(value)) throw new ShapeError(at, 'an object');
  return value;
};

export const nullable =
  <T>(guard: Guard<T>): Guard<T | null> =>
  (value, at) =>
    value === null ? null : guard(value, at);

/** Accepts null as well: null and undefined both mean that there is no value. */
export const optional =
  <T>(guard: Guard<T>): Guard<T | undefined> =>
  (value, at) =>
    value === undefined || value === null ? undefined : guard(value, at);

export const withDefault =
  <T>(guard: Guard<T>, fallback: T): Guard<T> =>
  (value, at) =>
    value === undefined || value === null ? fallback : guard(value, at);

export const list =
  <T>(guard: Guard<T>): Guard<T[]> =>
  (value, at) => {
    if (!Array.isArray(value)) throw new ShapeError(at, 'a list');
    return value.map((item, index) => guard(item, `${at}[${index}]`));
  };

/** Fields with the same guard. @example object({ id: text, ...fields(number, 'steps', 'tokens') }) */
export const fields = <T, K extends string>(guard: Guard<T>, ...names: K[]): Record<K, Guard<T>> =>
  // Each name is a key.
  Object.fromEntries(names.map((name) => [name, guard])) as Record<K, Guard<T>>;

type Shape = Record<string, Guard<unknown>>;

/** Keys outside the shape are kept. */
export const object =
  <S extends Shape>(shape: S): Guard<{ [K in keyof S]: Guarded<S[K]> }> =>
  (value, at) => {
    const source = anyObject(value, at);
    const checked: JsonObject = { ...source };
    for (const key of Object.keys(shape)) {
      const guard = shape[key];
      if (guard) checked[key] = guard(source[key], at === '' ? key : `${at}.${key}`);
    }
    // Each key of the shape was checked by its guard.
    return checked as { [K in keyof S]: Guarded<S[K]> };
  };
