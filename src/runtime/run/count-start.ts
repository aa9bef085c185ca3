import type { Run } from '../../schema/run.ts';
import type { Batch } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { subjectOfRun } from './payer.ts';

/** Counts a run as used, in the commit with which it starts. */
export const countStart = (
  { usage, resolve }: Pick<RuntimeDeps, 'usage' | 'resolve'>,
  batch: Batch,
  scope: string,
  run: Run,
): void => {
  if (!usage) return;
  const { agent, model, ...of } = subjectOfRun({ resolve }, scope, run);
  usage.add(batch, of, { agent, model, runs: 1 });
};
