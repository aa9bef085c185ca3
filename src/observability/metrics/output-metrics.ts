import type { RequestedMode } from '../../schema/output.ts';
import { createCounter, type Families } from './families.ts';

/** Counts of structured results. */
export const createOutputMetrics = (families: Families) => {
  const outputs = createCounter(families, ['mode', 'result'], {
    suffix: 'structured_outputs_total',
    help: 'Structured results by method; `valid`: matches the schema, `invalid`: no repair attempt was left',
  });
  const repairs = createCounter(families, [], {
    suffix: 'output_repairs_total',
    help: 'Invalid structured results that were requested again',
  });
  return {
    ended(mode: RequestedMode, result: 'valid' | 'invalid') {
      outputs.add(1, mode, result);
    },
    repaired() {
      repairs.add(1);
    },
  };
};
