import { ConnectionFailure, type FailureReason } from '../connections/failure.ts';
import { Conflict, Forbidden, NotFound, type Outcome, Unavailable } from '../schema/outcome.ts';

/** Failures of authorization servers as outcomes of a request. */

const OUTCOMES: Record<FailureReason, (message: string, cause: unknown) => Outcome> = {
  unknown: (message, cause) => new NotFound(message, { cause }),
  denied: (message) => new Forbidden(message),
  refused: (message, cause) => new Conflict(message, { cause }),
  unavailable: (message, cause) => new Unavailable(message, { cause }),
};

/** @throws Outcome */
export const outcomeOfConnection = async <Value>(work: Promise<Value>): Promise<Value> => {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ConnectionFailure)) throw error;
    throw OUTCOMES[error.reason](error.message, error);
  }
};
