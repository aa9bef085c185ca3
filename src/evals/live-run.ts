import { type Actor, createActor, fromPromise } from 'xstate';
import { evalRunMachine } from '../../machines/eval-run.ts';
import type { LoggedEvent } from '../schema/canonical-event.ts';
import { seconds } from '../schema/clock.ts';
import type { EvalItem, EvalStatus } from '../schema/eval-run.ts';
import type { Acceptance } from '../schema/idempotency.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import { Unavailable } from '../schema/outcome.ts';
import { spentUsd } from '../schema/usd.ts';
import type { Batch, EvalRunHead, Store } from '../store/index.ts';
import { type CellDeps, playCell } from './cell.ts';
import { type EvalPlan, unitAt, unitCount } from './plan.ts';
import { evalRunEvent, PLACES } from './run-events.ts';
import type { Slots } from './slots.ts';

/**
 * An eval run that this process executes: the actor of its machine, and the services of the machine.
 *
 * Guarantees: an item is reported only once it is durable, and no position of the run has two items. A run that is
 * stopped at any moment loses only the cells in progress.
 * Costs: the cells in progress; of a cell with an item, only its number stays in memory. A run that is not stored keeps
 * its items in memory.
 */

export type LiveRunDeps = CellDeps & {
  store: Store;
  slots: Slots;
  /** Notified of events that have become visible in the event log; if undefined, nothing is logged. */
  events:
    | { appended(scope: string, thread_id: string, from_seq: number, events: LoggedEvent[]): void }
    | undefined;
  log: Pick<ServiceLog, 'warn' | 'error'>;
};

export type LiveRun = {
  readonly deps: LiveRunDeps;
  readonly id: string;
  readonly scope: string;
  readonly plan: EvalPlan;
  readonly started_at_secs: number;
  /** The key of the request that starts the run. */
  readonly keyed?: Acceptance | undefined;
  ended_at_secs: number | undefined;
  /** Positions that have an item. */
  readonly played: Set<number>;
  passed: number;
  cost_usd: number;
  /** The items of a run that is not stored. */
  readonly kept: Map<number, EvalItem> | undefined;
  /** True once the run has a row in the store. */
  isStarted: boolean;
  readonly actor: Actor<typeof boundMachine>;
  /** Notified of each item and of the end. */
  readonly listeners: Set<RunListener>;
  /** Settles when no cell is in progress. */
  underway: Promise<unknown>;
};

export type RunListener = { item(item: EvalItem): void; ended(): void };

// The hosts of all machines started in this file are created here.
const runOf = ({ host }: { host: object }): LiveRun => (host as { run: LiveRun }).run;

const boundMachine = evalRunMachine.provide({
  actors: {
    begin: fromPromise(({ input }) => begin(runOf(input))),
    work: fromPromise(({ input, signal }) => work(runOf(input), signal)),
    settle: fromPromise(({ input }) => runOf(input).underway.then(nothing)),
    finish: fromPromise(({ input }) => finish(runOf(input), input.cancelled ? 'cancelled' : 'done')),
    rest: fromPromise(() => new Promise<void>((resolve) => setTimeout(resolve, STORE_PAUSE_MS).unref())),
  },
});

const STORE_PAUSE_MS = 1000;

const nothing = (): void => {};

export const createLiveRun = (
  deps: LiveRunDeps,
  of: Pick<LiveRun, 'id' | 'scope' | 'plan' | 'started_at_secs' | 'keyed'> & {
    isStored: boolean;
    head?: EvalRunHead;
  },
): LiveRun => {
  const { isStored, head, ...facts } = of;
  const host: { run?: LiveRun } = {};
  const run: LiveRun = {
    deps,
    ...facts,
    ended_at_secs: undefined,
    played: new Set(),
    passed: 0,
    cost_usd: 0,
    kept: isStored ? undefined : new Map(),
    isStarted: head !== undefined,
    actor: createActor(boundMachine, { id: of.id, input: { host } }),
    listeners: new Set(),
    underway: Promise.resolve(),
  };
  host.run = run;
  if (head) recount(run);
  return run;
};

/** Restores the counts of items that an earlier process stored. */
const recount = (run: LiveRun): void => {
  const { evalRuns } = run.deps.store;
  for (const place of evalRuns.played(run.id)) run.played.add(place);
  for (const item of evalRuns.items(run.id)) tally(run, item);
};

const tally = (run: LiveRun, { report }: EvalItem): void => {
  if (report.passed) run.passed += 1;
  run.cost_usd += spentUsd(report) ?? 0;
};

export const plannedCount = ({ plan }: Pick<LiveRun, 'plan'>): number => unitCount(plan);

/** Returns the head of a run that begins. */
export const firstHead = ({
  id,
  scope,
  plan,
  started_at_secs,
}: Pick<LiveRun, 'id' | 'scope' | 'plan' | 'started_at_secs'>): EvalRunHead => ({
  id,
  scope,
  dataset_id: plan.dataset_id,
  dataset_revision: plan.dataset_revision,
  execution_mode: plan.mode,
  status: 'running',
  planned_item_count: plannedCount({ plan }),
  started_at_secs,
  ended_at_secs: undefined,
  item_count: 0,
  passed_count: 0,
  ...(plan.cells.length > 0 && { models: [...new Set(plan.cells.map(({ model_id }) => model_id))] }),
});

export const createHead = (run: LiveRun, status: EvalStatus): EvalRunHead => {
  const { ended_at_secs, played, passed } = run;
  const head = { ...firstHead(run), status, ended_at_secs };
  return status === 'running' ? head : { ...head, item_count: played.size, passed_count: passed };
};

const startedFacts = ({ id, plan, started_at_secs }: LiveRun) => ({
  eval_run_id: id,
  dataset_id: plan.dataset_id,
  dataset_revision: plan.dataset_revision,
  mode: plan.kind,
  started_at_secs,
});

const begin = async (run: LiveRun): Promise<void> => {
  if (run.isStarted) return;
  const { deps, id, plan, kept, keyed } = run;
  const payload = { ...startedFacts(run), planned_item_count: plannedCount(run) };
  const event = evalRunEvent('EvalRunStarted', payload, stamp(deps));
  await committed(run, event, (batch) => {
    if (kept) return;
    deps.store.evalRuns.put(batch, createHead(run, 'running'), undefined);
    deps.store.evalRuns.putWork(batch, id, JSON.stringify(plan));
    if (keyed) deps.store.idempotency.put(batch, keyed);
  });
  run.isStarted = true;
};

const finish = async (run: LiveRun, status: 'done' | 'cancelled'): Promise<void> => {
  const { deps, id, kept } = run;
  run.ended_at_secs ??= seconds(deps.clock.now());
  const item_count = run.played.size;
  const payload = {
    ...startedFacts(run),
    item_count,
    passed_count: run.passed,
    failed_count: item_count - run.passed,
    total_cost_usd: run.cost_usd,
    ended_at_secs: run.ended_at_secs,
    persisted: kept === undefined,
  };
  const kind = status === 'done' ? 'EvalRunCompleted' : 'EvalRunCancelled';
  await committed(run, evalRunEvent(kind, payload, stamp(deps)), (batch) => {
    if (kept) return;
    deps.store.evalRuns.put(batch, createHead(run, status), createHead(run, 'running'));
    deps.store.evalRuns.removeWork(batch, id);
  });
};

const stamp = ({ ids, clock }: LiveRunDeps) => ({ event_id: ids.uuid(), created_at: clock.now() });

/** Commits the given records together with the event that reports them. */
const committed = async (
  { deps, id, scope, kept }: LiveRun,
  event: LoggedEvent,
  put: (batch: Batch) => void,
): Promise<void> => {
  const { store, events, log } = deps;
  const batch = store.batch('commons');
  put(batch);
  // Every kind of event has an entry in the table.
  const place = PLACES[event.event_kind as keyof typeof PLACES];
  if (events) store.events.append(batch, scope, id, place, [event]);
  try {
    await store.commit(batch, 'input');
  } catch (err) {
    if (!kept) throw err;
    // A run that is not stored has nothing to write but its events.
    log.warn('eval.event_write_failed', { err, eval_run_id: id });
    return;
  }
  events?.appended(scope, id, place, [event]);
};

/** Executes the cells that have no item. @throws errors of the store, after all cells have ended */
const work = (run: LiveRun, signal: AbortSignal): Promise<void> => {
  const stopped = new AbortController();
  const cut = AbortSignal.any([signal, stopped.signal]);
  const places = placesLeft(run);
  const play = async (): Promise<void> => {
    for (const place of places) {
      if (cut.aborted) return;
      await playAt(run, place, cut);
    }
  };
  const players = Array.from({ length: Math.min(run.plan.concurrency, plannedCount(run)) }, () =>
    play().catch((error: unknown) => {
      stopped.abort();
      if (!signal.aborted) throw error;
    }),
  );
  const settled = Promise.allSettled(players);
  run.underway = settled;
  return settled.then((results) => {
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  });
};

/** Shared by several workers, so each position is executed once. */
function* placesLeft(run: LiveRun): Generator<number> {
  const count = plannedCount(run);
  for (let place = 0; place < count; place += 1) if (!run.played.has(place)) yield place;
}

const playAt = async (run: LiveRun, place: number, signal: AbortSignal): Promise<void> => {
  const { deps, plan, scope } = run;
  const unit = unitAt(plan, place);
  const leave = unit && (await deps.slots.take(signal));
  if (!leave) return;
  let item: EvalItem;
  try {
    item = await playCell(deps, { scope, plan, unit }, signal);
  } finally {
    leave();
  }
  await putItem(run, place, item);
  run.played.add(place);
  tally(run, item);
  for (const listener of run.listeners) listener.item(item);
};

const putItem = async (
  { deps: { store }, id, kept }: LiveRun,
  place: number,
  item: EvalItem,
): Promise<void> => {
  if (kept) {
    kept.set(place, item);
    return;
  }
  const batch = store.batch('commons');
  store.evalRuns.putItem(batch, id, place, item);
  await store.commit(batch);
};

export type LiveEnd = 'done' | 'cancelled' | 'released';

/** Resolves when the actor has ended. @throws the reason why the run could not be stored */
export const startLiveRun = (run: LiveRun, began: () => () => void): Promise<LiveEnd> =>
  new Promise((resolve, reject) => {
    const { actor, deps, id } = run;
    const settle = (conclude: () => void): void => {
      gone();
      for (const listener of run.listeners) listener.ended();
      conclude();
    };
    actor.subscribe({
      complete() {
        const snapshot = actor.getSnapshot();
        if (snapshot.matches('refused')) settle(() => reject(refusal(snapshot.context.error)));
        else if (snapshot.matches('done')) settle(() => resolve('done'));
        else settle(() => resolve(snapshot.matches('cancelled') ? 'cancelled' : 'released'));
      },
      error(error) {
        deps.log.error('eval.machine_failed', { err: error, eval_run_id: id });
        settle(() => reject(error));
      },
    });
    const gone = began();
    actor.start();
  });

const refusal = (error: unknown): unknown =>
  error ?? new Unavailable('the eval run could not be written down');
