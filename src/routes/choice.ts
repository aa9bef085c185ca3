import { z } from 'zod';
import type { Outcome } from '../schema/outcome.ts';

/**
 * An enumeration whose refusal of other strings is specified by a contract; a value that is not a string has the wrong
 * shape.
 */
export const choice = <const Value extends string>(
  values: readonly Value[],
  refusal: (given: string) => Outcome,
) =>
  z.enum(values, {
    error({ input }) {
      if (typeof input === 'string') throw refusal(input);
      return undefined;
    },
  });
