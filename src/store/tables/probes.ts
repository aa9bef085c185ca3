import { randomBytes } from 'node:crypto';
import { pack } from 'msgpackr';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';

/**
 * A meaningless row, which tests whether there is space for one: in the table `meta` of a folder, or in the database of a
 * copy, which compresses long texts.
 */
export const PROBES = 'probes';

const PROBE = ['probe'];

export const createProbe = (
  env: Environment,
  isShipped: boolean,
): ((batch: Batch, bytes: number) => void) => {
  const probes = env.table<string>(PROBES);
  if (isShipped) return (batch, bytes) => probes.put(batch, PROBE, incompressible(bytes));
  const meta = env.rows('meta');
  return (batch, bytes) =>
    batch.writes.push({ kind: 'put', rows: meta, key: PROBE, value: pack('x'.repeat(bytes)) });
};

const incompressible = (bytes: number): string => randomBytes(bytes).toString('base64').slice(0, bytes);
