import type { Boundary, PendingMessage } from '../../schema/pending.ts';

/**
 * Selects the pending messages that join the history at a boundary (runtime.md 9.1, 9.2), in the order of the thread. A
 * message with its own run belongs to that run only; all other runs skip it.
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
    if (!mayJoin(entry, { skipped, isFirst: selected.length === 0 })) break;
    selected.push(entry);
    if (barrier || granularity === 'one') break;
  }
  return selected;
};

/** Whether an eligible message may join the batch: a barrier only without skipped messages, a single one only first. */
function mayJoin(
  { delivery_mode: { barrier, granularity } }: PendingMessage,
  { skipped, isFirst }: { skipped: boolean; isFirst: boolean },
): boolean {
  return !(barrier && skipped) && (granularity !== 'one' || isFirst);
}

/** Returns the barrier that must be consumed before any message may join at this boundary. */
export const blockingBarrier = (
  entries: readonly PendingMessage[],
  at: Boundary,
): PendingMessage | undefined =>
  entries.find((entry) => entry.delivery_mode.barrier && !isEligible(entry, at, ''));

/** Returns the messages for this run only. */
export const targetedAt = (entries: readonly PendingMessage[], run_id: string): PendingMessage[] =>
  entries.filter(({ delivery_mode }) => delivery_mode.target_run_id === run_id);
