import { Invalid } from '../schema/outcome.ts';

/**
 * A dependency of an entry is missing or unusable. Resolving the entry throws this error; as a problem of the
 * configuration it is reported once, at its origin.
 */
export class Unmet extends Invalid {}

/** A result, or the reason why there is none. */
export type Attempt<Result> = { result: Result } | { failure: Invalid };

export const attempt = <Result>(make: () => Result): Attempt<Result> => {
  try {
    return { result: make() };
  } catch (failure) {
    if (failure instanceof Invalid) return { failure };
    throw failure;
  }
};
