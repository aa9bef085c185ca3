import { z } from 'zod';
import type { Outcome } from '../schema/outcome.ts';

/** An enumeration for whose other texts a contract has an answer of its own; what is no text has the wrong shape. */
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
