/**
 * Light checks of what the service answers. A guard looks at what the screen will read, leaves everything else alone,
 * and says where something is not as expected; so a screen shows an error and never a blank page.
 */
export type Guard<T> = (value: unknown, at: string) => T;

/** A value is not what the console can read. The message names the place in the answer. */
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
    // `typeof` has just said so.
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

/** Also where it is null: both say that there is nothing. */
export const optional =
  <T>(guard: Guard<T>): Guard<T | undefined> =>
  (value, at) =>
    value === undefined || value === null ? undefined : guard(value, at);

/** What counts as this when it is missing. */
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

type Shape = Record<string, Guard<unknown>>;

/** Other keys stay as they are. */
export const object =
  <S extends Shape>(shape: S): Guard<{ [K in keyof S]: Guarded<S[K]> }> =>
  (value, at) => {
    const source = anyObject(value, at);
    const checked: JsonObject = { ...source };
    for (const key of Object.keys(shape)) {
      const guard = shape[key];
      if (guard) checked[key] = guard(source[key], at === '' ? key : `${at}.${key}`);
    }
    // Each key of the shape has been through its guard.
    return checked as { [K in keyof S]: Guarded<S[K]> };
  };
