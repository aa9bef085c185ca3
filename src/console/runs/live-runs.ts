import type { NewestRuns } from './pages.ts';
import type { Run } from './run.ts';

/**
 * A long list of runs that is kept right by reading its newest part again and again: what is in that part is as it says,
 * what the list has between and that part has not any more is gone, and what is older stays as it was read.
 */
export const refreshed = (whole: NewestRuns, head: NewestRuns): NewestRuns => {
  const fresh = new Set(head.items.map(({ run_id }) => run_id));
  const oldest = head.items.at(-1)?.run_id;
  const place = whole.items.findIndex(({ run_id }) => run_id === oldest);
  const isAll = head.items.length >= head.total;
  const older = isAll ? [] : whole.items.slice(place + 1).filter(({ run_id }) => !fresh.has(run_id));
  return { items: [...head.items, ...older], total: head.total };
};

/** What is shown while the list stands still, and how many runs have come since. */
export const heldBack = (shown: readonly Run[], now: readonly Run[]): { rows: Run[]; more: number } => {
  const byId = new Map(now.map((run) => [run.run_id, run]));
  const known = new Set(shown.map(({ run_id }) => run_id));
  return {
    // A run that has left a filter is still shown, as it was: nothing moves under its reader.
    rows: shown.map((run) => byId.get(run.run_id) ?? run),
    more: now.reduce((count, { run_id }) => (known.has(run_id) ? count : count + 1), 0),
  };
};
