import { type Actor, type Actors, actorOf, type Step } from './actors.ts';

/** The run of a thread that its chart shows, from live actors and from the log. Pure. */

/** The course of a run in its log. */
type Course = { moments: readonly { state: string }[]; steps: readonly Step[] };

/** Runs of delegates work for the thread too, but belong to another one. */
const isRunOf =
  (threadId: string) =>
  ({ machine, parent }: Actor): boolean =>
    machine === 'run' && (parent === null || parent === `thread:${threadId}`);

const runIdIn = (id: string): string => id.slice('run:'.length);

const laterOf = (one: Actor | undefined, other: Actor): Actor =>
  one && one.since > other.since ? one : other;

/** The executing run, else the one that moved last: it has ended, or waits. */
export const currentRun = ({ live, ended }: Actors, threadId: string): Actor | undefined => {
  const isRun = isRunOf(threadId);
  const runs = [...live.values()].filter(isRun);
  const others = [...ended.values()].filter(isRun).concat(runs);
  const executing = runs.findLast(({ isAtRest }) => !isAtRest);
  return executing ?? others.reduce<Actor | undefined>(laterOf, undefined);
};

/** The steps of the log before those that the page has followed. */
const stepsBefore = (logged: readonly Step[], followed: readonly Step[]): readonly Step[] => {
  const [first] = followed;
  return first ? logged.filter(({ time }) => time < first.time) : logged;
};

/** A run with its whole path. `known`: number of its steps that the page has not followed. */
export type ShownRun = { runId: string; actor: Actor; known: number };

/** @param newestId the newest run of the thread, for a thread without live actors */
export const shownRun = (
  live: Actor | undefined,
  newestId: string | undefined,
  { moments, steps }: Course,
): ShownRun | undefined => {
  if (live) {
    const before = live.isCut ? stepsBefore(steps, live.steps) : [];
    const isCut = live.isCut && before.length === 0;
    const actor = { ...live, isCut, steps: [...before, ...live.steps] };
    return { runId: runIdIn(live.id), actor, known: before.length };
  }
  const end = moments.at(-1);
  if (newestId === undefined || !end) return undefined;
  const record = { id: `run:${newestId}`, machine: 'run', state: end.state, since: 0, children: [] };
  const actor = { ...actorOf({ ...record, parent: null, at_rest: true }, false), steps };
  return { runId: newestId, actor, known: steps.length };
};

/** The run whose log is needed, if any. */
export const loggedId = (live: Actor | undefined, newestId: string | undefined): string | undefined => {
  if (!live) return newestId;
  return live.isCut ? runIdIn(live.id) : undefined;
};
