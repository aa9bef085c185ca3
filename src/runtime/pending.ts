import type { Boundary, PendingMessage } from '../schema/pending.ts';

/**
 * Which messages that wait join the history at a boundary (runtime.md 9.1, 9.2). Order is the order of the thread.
 * A message that waits for a run of its own belongs to that run and to nobody else; others pass it by.
 */

const PRECEDENCE = { interrupt: 0, next_step: 1, on_natural_end: 2, new_run: 4 } as const;

const isEligible = ({ delivery_mode: mode }: PendingMessage, at: Boundary, run_id: string): boolean => {
  const reached =
    mode.boundary === 'resume_input' || at === 'resume_input'
      ? mode.boundary === at
      : PRECEDENCE[mode.boundary] <= PRECEDENCE[at];
  if (!reached) return false;
  if (mode.target_run_id === undefined || mode.target_run_id === run_id) return true;
  return at === 'new_run' && mode.boundary !== 'new_run' && mode.fallback_to_new_run !== false;
};

const maySkip = ({ delivery_mode: mode }: PendingMessage, at: Boundary, run_id: string): boolean => {
  if (mode.target_run_id !== undefined && mode.target_run_id !== run_id) return true;
  return at === 'new_run'
    ? mode.boundary !== 'new_run' && mode.fallback_to_new_run === false
    : mode.boundary === 'new_run';
};

export const selectPending = (
  entries: readonly PendingMessage[],
  at: Boundary,
  run_id: string,
): PendingMessage[] => {
  const selected: PendingMessage[] = [];
  let skipped = false;
  for (const entry of entries) {
    const { barrier, granularity } = entry.delivery_mode;
    if (!isEligible(entry, at, run_id)) {
      if (barrier || !maySkip(entry, at, run_id)) break;
      skipped = true;
      continue;
    }
    if (barrier && skipped) break;
    if (granularity === 'one' && selected.length > 0) break;
    selected.push(entry);
    if (barrier || granularity === 'one') break;
  }
  return selected;
};

/** The barrier that must be consumed before anything may join at this boundary. */
export const blockingBarrier = (
  entries: readonly PendingMessage[],
  at: Boundary,
): PendingMessage | undefined =>
  entries.find((entry) => entry.delivery_mode.barrier && !isEligible(entry, at, ''));

/** Messages that are for this run and no other. */
export const targetedAt = (entries: readonly PendingMessage[], run_id: string): PendingMessage[] =>
  entries.filter(({ delivery_mode }) => delivery_mode.target_run_id === run_id);
