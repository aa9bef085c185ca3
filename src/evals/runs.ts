import { type AnyActorRef, waitFor } from 'xstate';
import { seconds } from '../schema/clock.ts';
import type { Progress } from '../schema/eval-answers.ts';
import type { EvalAggregate, EvalDiff, EvalRun, EvalRunSummary } from '../schema/eval-run.ts';
import type { Accept } from '../schema/idempotency.ts';
import { Invalid, NotFound, Unavailable } from '../schema/outcome.ts';
import type { EvalRunHead, EvalRunPosition, EvalRunQuery } from '../store/index.ts';
import { aggregateItems } from './aggregate.ts';
import { checkComparable, comparedRun, createDiff } from './diff.ts';
import {
  createHead,
  createLiveRun,
  firstHead,
  type LiveEnd,
  type LiveRun,
  type LiveRunDeps,
  plannedCount,
  startLiveRun,
} from './live-run.ts';
import type { EvalPlan } from './plan.ts';
import { createRunReader, type FrameSink } from './run-stream.ts';

/** The eval runs of this service: executing and stored ones (evals-and-traces.md 6, 8). */

export type EvalRunsDeps = LiveRunDeps & {
  /** Returns a new id; ids are in the order of time. */
  newId(): string;
  actors: { began(actor: AnyActorRef, scope: string): () => void };
};

export type StartedRun = {
  id: string;
  /** The record of the run as it begins. */
  first: EvalRun;
  /** Resolves once the run is durable. @throws the reason why it did not start */
  started: Promise<unknown>;
  /**
   * Resolves with the final record, or with undefined if the service stops first. @throws the reason why it did not
   * start
   */
  ended: Promise<EvalRun | undefined>;
  cancel(): void;
};

export type EvalRunFilter = EvalRunQuery & { aggregates: boolean };

export type EvalRunPage = { runs: EvalRunSummary[]; next: EvalRunPosition | undefined };

export type EvalRuns = {
  /** If `isStored` is false, the run cannot be read later. @throws Unavailable when the service stops */
  start(scope: string, plan: EvalPlan, isStored: boolean, keyed?: Accept<EvalRun>): StartedRun;
  /** @throws NotFound, Invalid (not an id) */
  get(id: string): EvalRun;
  /**
   * Resolves with the final record, or with undefined if the service stops first. @throws NotFound, Invalid (not an id)
   */
  ended(id: string): Promise<EvalRun | undefined>;
  /** Returns a completed run only. */
  finished(id: string): EvalRun | undefined;
  /** @throws Invalid if the runs cannot be compared, NotFound for the baseline */
  compare(run: EvalRun, baseline_id: string): EvalDiff;
  aggregates(run: EvalRun): EvalAggregate[];
  list(filter: EvalRunFilter): EvalRunPage;
  /** Returns the record after the cancellation. @throws NotFound, Invalid */
  cancel(id: string): Promise<EvalRun>;
  /** @throws NotFound, Invalid */
  follow(id: string, stream: FrameSink): void;
  /** Resumes the runs of an earlier process. */
  recover(): void;
  /** Releases the executing runs; the next start resumes them. */
  stop(): Promise<void>;
};

const NOT_AN_ID = /[/\\\0]/;

export const createEvalRuns = (deps: EvalRunsDeps): EvalRuns => {
  const runs: Runs = {
    deps,
    table: deps.store.evalRuns,
    live: new Map(),
    ends: new Map(),
    isStopping: false,
  };
  return {
    start: (scope, plan, isStored, keyed) => start(runs, scope, plan, { isStored, keyed }),
    get: (id) => read(runs, id),
    async ended(id) {
      const end = await runs.ends.get(id);
      return end === 'released' ? undefined : read(runs, id);
    },
    finished: (id) => finished(runs, id),
    compare(run, baseline_id) {
      const baseline = finished(runs, baseline_id);
      if (!baseline) throw new NotFound(`baseline eval run not found: ${baseline_id}`);
      checkComparable(comparedRun(run), comparedRun(baseline));
      return createDiff(run.items, baseline.items);
    },
    aggregates: (run) => aggregateItems(run.items),
    list: (filter) => list(runs, filter),
    async cancel(id) {
      checkedHead(runs, id);
      const run = resume(runs, id);
      run?.actor.send({ type: 'CANCEL' });
      await runs.ends.get(id);
      return read(runs, id);
    },
    follow: (id, stream) => follow(runs, id, stream),
    recover() {
      for (const id of runs.table.unfinished()) {
        try {
          resume(runs, id);
        } catch (err) {
          deps.log.error('eval.recovery_failed', { err, eval_run_id: id });
        }
      }
    },
    async stop() {
      runs.isStopping = true;
      const all = [...runs.live.values()];
      for (const { actor } of all) actor.send({ type: 'RELEASE' });
      await Promise.all(all.map(({ underway }) => underway));
    },
  };
};

type Runs = {
  readonly deps: EvalRunsDeps;
  readonly table: EvalRunsDeps['store']['evalRuns'];
  /** Runs that execute in this process. */
  readonly live: Map<string, LiveRun>;
  readonly ends: Map<string, Promise<LiveEnd>>;
  isStopping: boolean;
};

const start = (
  runs: Runs,
  scope: string,
  plan: EvalPlan,
  { isStored, keyed }: { isStored: boolean; keyed: Accept<EvalRun> | undefined },
): StartedRun => {
  const { deps, table } = runs;
  if (runs.isStopping) throw new Unavailable(STOPPING);
  const id = deps.newId();
  const started_at_secs = seconds(deps.clock.now());
  const first = recordOf(firstHead({ id, scope, plan, started_at_secs }), []);
  const run = createLiveRun(deps, { id, scope, plan, started_at_secs, isStored, keyed: keyed?.(first) });
  const ended = launch(runs, run).then((end) => {
    if (end === 'released') return undefined;
    const items = run.kept ? inOrder(run.kept) : table.items(id);
    return recordOf(createHead(run, end), items);
  });
  const started = waitFor(run.actor, (snapshot) => !snapshot.matches('planned')).then((snapshot) =>
    snapshot.matches('refused') ? ended : undefined,
  );
  // Callers that await one of the two get its error.
  for (const each of [started, ended]) each.catch(() => {});
  return { id, first, started, ended, cancel: () => run.actor.send({ type: 'CANCEL' }) };
};

const launch = ({ deps, live, ends }: Runs, run: LiveRun): Promise<LiveEnd> => {
  live.set(run.id, run);
  const ended = startLiveRun(run, () => deps.actors.began(run.actor, run.scope)).finally(() => {
    live.delete(run.id);
    ends.delete(run.id);
  });
  ends.set(run.id, ended);
  ended.catch((err: unknown) => deps.log.warn('eval.run_failed', { err, eval_run_id: run.id }));
  return ended;
};

/** Resumes a run of an earlier process. Returns undefined if there is nothing left to do. */
const resume = (runs: Runs, id: string): LiveRun | undefined => {
  const { deps, table, live } = runs;
  const known = live.get(id);
  const head = table.head(id);
  const work = table.work(id);
  if (known || !head || work === undefined) return known;
  // `begin` wrote it.
  const plan: EvalPlan = JSON.parse(work);
  const { scope, started_at_secs } = head;
  const run = createLiveRun(deps, { id, scope, plan, started_at_secs, isStored: true, head });
  launch(runs, run);
  // The client that waited for the result has disconnected.
  if (plan.isAwaited) run.actor.send({ type: 'CANCEL' });
  return run;
};

/** @throws NotFound, Invalid */
const checkedHead = ({ table }: Runs, id: string): EvalRunHead => {
  if (id === '' || id === '.' || id === '..' || NOT_AN_ID.test(id)) throw new Invalid('invalid eval run id');
  const head = table.head(id);
  if (!head) throw new NotFound(`eval run not found: ${id}`);
  return head;
};

const read = (runs: Runs, id: string): EvalRun => recordOf(checkedHead(runs, id), runs.table.items(id));

const finished = ({ table }: Runs, id: string): EvalRun | undefined => {
  const head = table.head(id);
  return head?.status === 'done' ? recordOf(head, table.items(id)) : undefined;
};

const list = (runs: Runs, { limit, aggregates, ...query }: EvalRunFilter): EvalRunPage => {
  const { deps, table } = runs;
  const found = table.list({ ...query, limit: limit + 1 });
  const page = found.slice(0, limit);
  const summaries = page.flatMap(({ id }) => {
    try {
      const summary = summarize(runs, id);
      return summary
        ? { ...summary, ...(aggregates && { aggregates: aggregateItems(table.items(id)) }) }
        : [];
    } catch (err) {
      deps.log.warn('eval.record_unreadable', { err, eval_run_id: id });
      return [];
    }
  });
  return { runs: summaries, next: found.length > limit ? page.at(-1) : undefined };
};

/** @throws Integrity if the row cannot be read */
const summarize = ({ table, live }: Runs, id: string): EvalRunSummary | undefined => {
  const head = table.head(id);
  if (!head) return undefined;
  const run = live.get(id);
  const counts = run ? { item_count: run.played.size, passed_count: run.passed } : head;
  return {
    ...factsOf(head),
    item_count: counts.item_count,
    passed_count: counts.passed_count,
    failed_count: counts.item_count - counts.passed_count,
    ...unfinished(head),
    ...(head.models && { models: head.models }),
  };
};

const follow = (runs: Runs, id: string, stream: FrameSink): void => {
  const { table, live } = runs;
  checkedHead(runs, id);
  const run = live.get(id);
  const progress = (): Progress => progressOf(run, table.head(id));
  const reader = createRunReader(stream, () => ({
    run: read(runs, id),
    progress: progress(),
    isOver: !live.has(id),
  }));
  if (!run) return;
  const listener = {
    item: (item: EvalRun['items'][number]) => reader.item(item, progress()),
    // The record contains the final status by now.
    ended: () => reader.ended({ status: table.head(id)?.status ?? 'done', progress: progress() }),
  };
  run.listeners.add(listener);
  stream.onClose(() => run.listeners.delete(listener));
};

export const STOPPING = 'service is shutting down';

const inOrder = <Item>(kept: ReadonlyMap<number, Item>): Item[] =>
  [...kept].sort(([one], [other]) => one - other).map(([, item]) => item);

const progressOf = (run: LiveRun | undefined, head: EvalRunHead | undefined): Progress => {
  const finished = run ? run.played.size : (head?.item_count ?? 0);
  const passed = run ? run.passed : (head?.passed_count ?? 0);
  const planned = run ? plannedCount(run) : (head?.planned_item_count ?? 0);
  return { planned, finished, passed, failed: finished - passed };
};

const factsOf = (head: EvalRunHead) => ({
  id: head.id,
  dataset_id: head.dataset_id,
  dataset_revision: head.dataset_revision,
  execution_mode: head.execution_mode,
  started_at_secs: head.started_at_secs,
  ...(head.ended_at_secs !== undefined && { ended_at_secs: head.ended_at_secs }),
});

const unfinished = ({ status, planned_item_count }: EvalRunHead) =>
  status === 'done' ? {} : { status, planned_item_count };

const recordOf = (head: EvalRunHead, items: EvalRun['items']): EvalRun => {
  const { id, dataset_id, dataset_revision, execution_mode, started_at_secs, ended_at_secs } = head;
  return {
    id,
    dataset_id,
    dataset_revision,
    execution_mode,
    items,
    started_at_secs,
    ...(ended_at_secs !== undefined && { ended_at_secs }),
    ...unfinished(head),
  };
};
