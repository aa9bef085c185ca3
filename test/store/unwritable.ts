import type { Batch } from '../../src/store/engine/batch.ts';

/** The batch with a write that no transaction accepts: it fails within the store, with everything queued behind it. */
export const unwritable = (batch: Batch): Batch => {
  const [first] = batch.writes;
  const tooLong = 'x'.repeat(5000);
  return first
    ? { ...batch, writes: [...batch.writes, { kind: 'clear', rows: first.rows, key: [tooLong] }] }
    : batch;
};
