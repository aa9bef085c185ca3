import { createHash } from 'node:crypto';
import type { SpanPlace } from '../../loop/trace-fact.ts';

/**
 * Ids of traces and spans are derived from the entities that they represent. An outgoing call can therefore name its
 * span before the span exists, and a run that continues in another process continues its trace, without storing any id.
 */

const hexOf = (digits: number, ...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(parts.join('\u001f')).digest('hex').slice(0, digits);

/** The trace id of a run that belongs to no other trace: its own id, if that is a UUID. */
export const traceIdOf = (run_id: string): string => {
  const plain = run_id.replaceAll('-', '');
  return /^(?!0{32})[0-9a-f]{32}$/.test(plain) ? plain : hexOf(32, 'trace', run_id);
};

export const rootIdOf = (run_id: string): string => hexOf(16, 'root', run_id);

/** `attempt`: number of earlier failed inferences of the step. */
export const inferenceIdOf = (run_id: string, step: number, attempt: number): string =>
  hexOf(16, 'inference', run_id, step, attempt);

/** The step is part of the id, because models may give calls of different steps the same id. */
export const toolIdOf = (run_id: string, { tool, step }: Extract<SpanPlace, { tool: string }>): string =>
  hexOf(16, 'tool', run_id, step ?? '', tool);

export const taskIdOf = (run_id: string, task_id: string): string => hexOf(16, 'task', run_id, task_id);

/** The id of a span that is never referenced. */
export const anyIdOf = (run_id: string, ...what: readonly (string | number)[]): string =>
  hexOf(16, 'other', run_id, ...what);
