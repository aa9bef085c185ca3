import type { AskedMode } from '../schema/output.ts';
import { createCounter, type Families } from './families.ts';

/** What the service counts of structured results. */
export const createOutputMetrics = (families: Families) => {
  const outputs = createCounter(families, ['mode', 'result'], {
    suffix: 'structured_outputs_total',
    help: 'Structured results by how the model was asked; `valid`: fits its schema, `invalid`: no repair was left',
  });
  const repairs = createCounter(families, [], {
    suffix: 'output_repairs_total',
    help: 'Structured results that did not fit and were asked for again',
  });
  return {
    ended(mode: AskedMode, result: 'valid' | 'invalid') {
      outputs.add(1, mode, result);
    },
    repaired() {
      repairs.add(1);
    },
  };
};
