import { Invalid } from '../schema/outcome.ts';

/**
 * What an entry needs is not there, or cannot be used itself. Whoever resolves the entry gets this; as a problem of
 * the configuration it is reported once, where it comes from.
 */
export class Unmet extends Invalid {}

/** The thing, or why there is none. */
export type Attempt<Result> = { result: Result } | { failure: Invalid };

export const attempt = <Result>(make: () => Result): Attempt<Result> => {
  try {
    return { result: make() };
  } catch (failure) {
    if (failure instanceof Invalid) return { failure };
    throw failure;
  }
};
