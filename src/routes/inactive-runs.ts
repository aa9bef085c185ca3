import { z } from 'zod';
import { runMachine } from '../../machines/index.ts';
import type { WholeScope } from '../identity/access/whole-scope.ts';
import { actorId } from '../inspection/actor-index.ts';
import type { ActorFilter } from '../inspection/filter.ts';
import type { Inspector } from '../inspection/inspector.ts';
import { stateOf } from '../inspection/watch.ts';
import type { LiveActor } from '../schema/live-actor.ts';
import { RUN_STATES, type RunRecord, stateAt, taggedWith } from '../schema/run-state.ts';
import { Position, type Store } from '../store/index.ts';

/**
 * Presents runs without an actor in this process as actors: first queued runs, then waiting ones, each in the order of
 * their acceptance.
 *
 * Cost: the records of one page. A state filter may match few of them, so a page ends after `MOST_READS` reads even if
 * it is not full.
 */

/** Statuses of runs without an actor. A queued run may become a waiting run, but a waiting run is never queued. */
const InactiveStatus = z.enum(['created', 'waiting']);
type InactiveStatus = z.infer<typeof InactiveStatus>;

const STATUS = taggedWith<InactiveStatus>(InactiveStatus.options);

const STATES = RUN_STATES.map((name) => ({
  name,
  status: STATUS[name],
  snapshot: runMachine.resolveState(stateAt(name)),
}));

const SNAPSHOTS = new Map(STATES.map(({ name, snapshot }) => [name, snapshot]));

export const InactivePosition = z.object({ status: InactiveStatus, after: Position.optional() });
export type InactivePosition = z.infer<typeof InactivePosition>;

export type Sources = {
  store: { runs: Pick<Store['runs'], 'get' | 'list'> };
  wholeScope: WholeScope;
  inspector: Inspector;
};

export type InactiveRuns = {
  /** Sizes of the lists that may contain such runs, including runs with an actor. */
  sizes: readonly { status: InactiveStatus; size: number }[];
  /** Whether every run of these lists matches; otherwise counting would require reading all of them. */
  isWhole: boolean;
  page(from: InactivePosition | undefined, limit: number): { items: LiveActor[]; next?: InactivePosition };
};

export const findInactiveRuns = (sources: Sources, scope: string, filter: ActorFilter): InactiveRuns => {
  if (filter.machine !== undefined && filter.machine !== 'run') return NONE;
  return filter.run === undefined
    ? listed(sources, scope, filter)
    : single(sources, scope, filter.run, filter);
};

const NONE: InactiveRuns = { sizes: [], isWhole: true, page: () => ({ items: [] }) };

const single = (
  { store, wholeScope, inspector }: Sources,
  scope: string,
  run_id: string,
  { thread, state }: ActorFilter,
): InactiveRuns => {
  const run = store.runs.get(wholeScope.run(scope, run_id).scope, run_id);
  const status = InactiveStatus.safeParse(run?.status).data;
  if (!run || !status || inspector.hasRun(scope, run_id)) return NONE;
  if (thread !== undefined && run.thread_id !== thread) return NONE;
  const items = actorsOf([run], state);
  return { sizes: [{ status, size: items.length }], isWhole: true, page: () => ({ items }) };
};

const listed = (sources: Sources, scope: string, { thread, state }: ActorFilter): InactiveRuns => {
  const { store, wholeScope, inspector } = sources;
  const inThread = thread === undefined ? {} : { thread_id: thread };
  const within = thread === undefined ? wholeScope.lists(scope) : wholeScope.thread(scope, thread).scope;
  const lists = InactiveStatus.options
    .map((status) => ({ status, share: shareOf(status, state) }))
    .filter(({ share }) => share !== 'none')
    .map((list) => ({
      ...list,
      size: store.runs.list(within, { ...inThread, status: list.status }, NO_ROWS).total,
    }))
    .filter(({ size }) => size > 0);
  return {
    sizes: lists,
    isWhole: lists.every(({ share }) => share === 'all'),
    page(from, limit) {
      const remaining = lists.map(({ status }) => status).filter((status) => !isBefore(status, from?.status));
      const items: LiveActor[] = [];
      let after = remaining[0] === from?.status ? from?.after : undefined;
      for (let reads = 0; remaining[0] && items.length < limit && reads < MOST_READS; reads += 1) {
        const span = { offset: 0, limit: limit - items.length, ...(after && { after }) };
        const found = store.runs.list(within, { ...inThread, status: remaining[0] }, span);
        const inactive = found.items.filter(({ run_id }) => !inspector.hasRun(scope, run_id));
        items.push(...actorsOf(inactive, state));
        after = found.next;
        if (!after) remaining.shift();
      }
      const [status] = remaining;
      return { items, ...(status && { next: { status, ...(after && { after }) } }) };
    },
  };
};

const isBefore = (status: InactiveStatus, other: InactiveStatus | undefined): boolean =>
  other !== undefined && InactiveStatus.options.indexOf(status) < InactiveStatus.options.indexOf(other);

const NO_ROWS = { offset: 0, limit: 0 };

/** Limit of reads per page. */
const MOST_READS = 10;

const actorsOf = (runs: readonly RunRecord[], state: ActorFilter['state']): LiveActor[] =>
  runs.flatMap((run) => {
    const snapshot = SNAPSHOTS.get(run.machine_state);
    return snapshot && (state === undefined || state(snapshot._nodes)) ? [inactiveActor(run, snapshot)] : [];
  });

const inactiveActor = (
  { run_id, thread_id, updated_at }: RunRecord,
  snapshot: (typeof STATES)[number]['snapshot'],
): LiveActor => ({
  id: actorId('run', run_id),
  machine: 'run',
  state: stateOf(snapshot),
  tags: [...snapshot.tags],
  since: updated_at * 1000,
  parent: actorId('thread', thread_id),
  children: [],
  at_rest: true,
});

/** Returns whether the filter matches all, some or none of the inactive states with this status. */
const shareOf = (status: InactiveStatus, state: ActorFilter['state']): 'all' | 'some' | 'none' => {
  const isMeant = ({ snapshot }: (typeof STATES)[number]) => state === undefined || state(snapshot._nodes);
  const those = STATES.filter((each) => each.status === status);
  if (those.every(isMeant)) return 'all';
  return those.some(isMeant) ? 'some' : 'none';
};
