import { z } from 'zod';
import { runMachine } from '../../machines/index.ts';
import type { ActorFilter } from '../inspection/filter.ts';
import type { Inspector } from '../inspection/inspector.ts';
import { actorId } from '../inspection/register.ts';
import { stateOf } from '../inspection/watch.ts';
import type { LiveActor } from '../schema/live-actor.ts';
import type { Run } from '../schema/run.ts';
import { atRest, type RestState, restStateOf, taggedWith } from '../schema/run-state.ts';
import { Position, type Store } from '../store/index.ts';

/**
 * Runs that wait in the store and have no actor in this process, as actors: those that are queued, then those that
 * wait for something, each in the order in which they were accepted.
 *
 * Costs the records of one page. A filter by state may let few of them through: then a page ends after some reads,
 * however few it has found.
 */

/** Statuses of runs that can be at rest. A run that was queued may wait later, but never the other way round. */
const RestStatus = z.enum(['created', 'waiting']);
type RestStatus = z.infer<typeof RestStatus>;

const STATUS = taggedWith<RestStatus>(RestStatus.options);

// The keys of the record are all the states in which a run can be at rest.
const STATES = (Object.keys(STATUS) as RestState[]).map((name) => ({
  name,
  status: STATUS[name],
  snapshot: runMachine.resolveState(atRest(name)),
}));

const SNAPSHOTS = new Map(STATES.map(({ name, snapshot }) => [name, snapshot]));

export const RestPosition = z.object({ status: RestStatus, after: Position.optional() });
export type RestPosition = z.infer<typeof RestPosition>;

export type Sources = { store: { runs: Pick<Store['runs'], 'get' | 'list'> }; inspector: Inspector };

export type RunsAtRest = {
  /** Of the lists that may hold such runs, with those that have an actor. */
  sizes: readonly { status: RestStatus; size: number }[];
  /** Every run of these lists is meant; otherwise only reading all of them would tell how many are. */
  isWhole: boolean;
  page(from: RestPosition | undefined, limit: number): { items: LiveActor[]; next?: RestPosition };
};

export const runsAtRest = (sources: Sources, scope: string, filter: ActorFilter): RunsAtRest => {
  if (filter.machine !== undefined && filter.machine !== 'run') return NONE;
  return filter.run === undefined
    ? listed(sources, scope, filter)
    : single(sources, scope, filter.run, filter);
};

const NONE: RunsAtRest = { sizes: [], isWhole: true, page: () => ({ items: [] }) };

const single = (
  { store, inspector }: Sources,
  scope: string,
  run_id: string,
  { thread, state }: ActorFilter,
): RunsAtRest => {
  const run = store.runs.get(scope, run_id);
  const status = RestStatus.safeParse(run?.status).data;
  if (!run || !status || inspector.hasRun(scope, run_id)) return NONE;
  if (thread !== undefined && run.thread_id !== thread) return NONE;
  const items = actorsOf([run], state);
  return { sizes: [{ status, size: items.length }], isWhole: true, page: () => ({ items }) };
};

const listed = (sources: Sources, scope: string, { thread, state }: ActorFilter): RunsAtRest => {
  const { store, inspector } = sources;
  const inThread = thread === undefined ? {} : { thread_id: thread };
  const lists = RestStatus.options
    .map((status) => ({ status, share: shareOf(status, state) }))
    .filter(({ share }) => share !== 'none')
    .map((list) => ({
      ...list,
      size: store.runs.list(scope, { ...inThread, status: list.status }, NO_ROWS).total,
    }))
    .filter(({ size }) => size > 0);
  return {
    sizes: lists,
    isWhole: lists.every(({ share }) => share === 'all'),
    page(from, limit) {
      const left = lists.map(({ status }) => status).filter((status) => !isBefore(status, from?.status));
      const items: LiveActor[] = [];
      let after = left[0] === from?.status ? from?.after : undefined;
      for (let reads = 0; left[0] && items.length < limit && reads < MOST_READS; reads += 1) {
        const span = { offset: 0, limit: limit - items.length, ...(after && { after }) };
        const found = store.runs.list(scope, { ...inThread, status: left[0] }, span);
        const resting = found.items.filter(({ run_id }) => !inspector.hasRun(scope, run_id));
        items.push(...actorsOf(resting, state));
        after = found.next;
        if (!after) left.shift();
      }
      const [status] = left;
      return { items, ...(status && { next: { status, ...(after && { after }) } }) };
    },
  };
};

const isBefore = (status: RestStatus, other: RestStatus | undefined): boolean =>
  other !== undefined && RestStatus.options.indexOf(status) < RestStatus.options.indexOf(other);

const NO_ROWS = { offset: 0, limit: 0 };

/** For one page. */
const MOST_READS = 10;

const actorsOf = (runs: readonly Run[], state: ActorFilter['state']): LiveActor[] =>
  runs.flatMap((run) => {
    const snapshot = SNAPSHOTS.get(restStateOf(run));
    return snapshot && (state === undefined || state(snapshot._nodes)) ? [actorAtRest(run, snapshot)] : [];
  });

const actorAtRest = (
  { run_id, thread_id, updated_at }: Run,
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

/** Of the states in which runs of this status rest, those that a filter lets through. */
const shareOf = (status: RestStatus, state: ActorFilter['state']): 'all' | 'some' | 'none' => {
  const isMeant = ({ snapshot }: (typeof STATES)[number]) => state === undefined || state(snapshot._nodes);
  const those = STATES.filter((each) => each.status === status);
  if (those.every(isMeant)) return 'all';
  return those.some(isMeant) ? 'some' : 'none';
};
