/** The speed at which a chart shows the steps of a run, which may take many within a millisecond. */

/** Time for one step, and for all of a backlog. */
const STEP_MS = 380;
const BACKLOG_MS = 4000;
const SHORTEST_MS = 60;

export const paceFor = (backlog: number): number =>
  Math.min(STEP_MS, Math.max(SHORTEST_MS, BACKLOG_MS / backlog));
