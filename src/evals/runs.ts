import { type AnyActorRef, waitFor } from 'xstate';
import { seconds } from '../schema/clock.ts';
import type { Progress } from '../schema/eval-answers.ts';
import type { EvalAggregate, EvalDiff, EvalRun, EvalRunSummary } from '../schema/eval-run.ts';
import { Invalid, NotFound, Unavailable } from '../schema/outcome.ts';
import type { EvalRunHead, EvalRunPosition, EvalRunQuery } from '../store/index.ts';
import { aggregatesOf } from './aggregate.ts';
import { checkComparable, comparedRun, diffOf } from './diff.ts';
import {
  createLiveRun,
  headOf,
  type LiveEnd,
  type LiveRun,
  type LiveRunDeps,
  plannedCount,
  startLiveRun,
} from './live-run.ts';
import type { EvalPlan } from './plan.ts';
import { createRunReader, type FrameSink } from './run-stream.ts';

/** The eval runs of this service: those under way, and those at rest (evals-and-traces.md 6, 8). */

export type EvalRunsDeps = LiveRunDeps & {
  /** A new id; they are in the order of the time. */
  newId(): string;
  actors: { began(actor: AnyActorRef, scope: string): () => void };
};

export type StartedRun = {
  id: string;
  /** Resolves when it is durable. @throws why it never began */
  begun: Promise<unknown>;
  /** Resolves with the record at its end; undefined when the service stops before. @throws why it never began */
  ended: Promise<EvalRun | undefined>;
  cancel(): void;
};

export type EvalRunFilter = EvalRunQuery & { aggregates: boolean };

export type EvalRunPage = { runs: EvalRunSummary[]; next: EvalRunPosition | undefined };

export type EvalRuns = {
  /** `isStored` false: nothing of it can be asked for later. @throws Unavailable when the service stops */
  start(scope: string, plan: EvalPlan, isStored: boolean): StartedRun;
  /** @throws NotFound, Invalid (no id) */
  get(id: string): EvalRun;
  /** Of a run that is done. */
  finished(id: string): EvalRun | undefined;
  /** @throws Invalid when they cannot be compared, NotFound for the baseline */
  compare(run: EvalRun, baseline_id: string): EvalDiff;
  aggregates(run: EvalRun): EvalAggregate[];
  list(filter: EvalRunFilter): EvalRunPage;
  /** The record as it is then. @throws NotFound, Invalid */
  cancel(id: string): Promise<EvalRun>;
  /** @throws NotFound, Invalid */
  follow(id: string, stream: FrameSink): void;
  /** Takes up what an earlier process has left. */
  recover(): void;
  /** Lets go of those under way; the next start goes on with them. */
  stop(): Promise<void>;
};

const NOT_AN_ID = /[/\\\0]/;

export const createEvalRuns = (deps: EvalRunsDeps): EvalRuns => {
  const { store, log } = deps;
  const table = store.evalRuns;
  const live = new Map<string, LiveRun>();
  const ends = new Map<string, Promise<LiveEnd>>();
  let isStopping = false;

  const launch = (run: LiveRun): Promise<LiveEnd> => {
    live.set(run.id, run);
    const ended = startLiveRun(run, () => deps.actors.began(run.actor, run.scope)).finally(() => {
      live.delete(run.id);
      ends.delete(run.id);
    });
    ends.set(run.id, ended);
    ended.catch((err: unknown) =>
      log.warn({ err, eval_run_id: run.id }, 'an eval run did not come to its end'),
    );
    return ended;
  };

  /** Goes on with a run of an earlier process. Undefined when nothing is left of it to do. */
  const takeUp = (id: string): LiveRun | undefined => {
    const known = live.get(id);
    const head = table.head(id);
    const work = table.work(id);
    if (known || !head || work === undefined) return known;
    // It was written by `begin`.
    const plan: EvalPlan = JSON.parse(work);
    const { scope, started_at_secs } = head;
    const run = createLiveRun(deps, { id, scope, plan, started_at_secs, isStored: true, head });
    launch(run);
    // Whoever waited for its answer is gone.
    if (plan.isAwaited) run.actor.send({ type: 'CANCEL' });
    return run;
  };

  const headFor = (id: string): EvalRunHead => {
    if (id === '' || id === '.' || id === '..' || NOT_AN_ID.test(id))
      throw new Invalid('invalid eval run id');
    const head = table.head(id);
    if (!head) throw new NotFound(`eval run not found: ${id}`);
    return head;
  };

  const get = (id: string): EvalRun => recordOf(headFor(id), table.items(id));

  const finished = (id: string): EvalRun | undefined => {
    const head = table.head(id);
    return head?.status === 'done' ? recordOf(head, table.items(id)) : undefined;
  };

  /** @throws Integrity when the row cannot be read */
  const summaryOf = (id: string, withAggregates: boolean): EvalRunSummary | undefined => {
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
      ...(withAggregates && { aggregates: aggregatesOf(table.items(id)) }),
    };
  };

  return {
    start(scope, plan, isStored) {
      if (isStopping) throw new Unavailable(STOPPING);
      const id = deps.newId();
      const started_at_secs = seconds(deps.clock.now());
      const run = createLiveRun(deps, { id, scope, plan, started_at_secs, isStored });
      const ended = launch(run).then((end) => {
        if (end === 'released') return undefined;
        const items = run.kept ? inOrder(run.kept) : table.items(id);
        return recordOf(headOf(run, end), items);
      });
      const begun = waitFor(run.actor, (snapshot) => !snapshot.matches('planned')).then((snapshot) =>
        snapshot.matches('refused') ? ended : undefined,
      );
      // Whoever waits for one of the two is told by it.
      for (const each of [begun, ended]) each.catch(() => {});
      return { id, begun, ended, cancel: () => run.actor.send({ type: 'CANCEL' }) };
    },
    get,
    finished,
    compare(run, baseline_id) {
      const baseline = finished(baseline_id);
      if (!baseline) throw new NotFound(`baseline eval run not found: ${baseline_id}`);
      checkComparable(comparedRun(run), comparedRun(baseline));
      return diffOf(run.items, baseline.items);
    },
    aggregates: (run) => aggregatesOf(run.items),
    list({ limit, aggregates, ...query }) {
      const found = table.list({ ...query, limit: limit + 1 });
      const page = found.slice(0, limit);
      const runs = page.flatMap(({ id }) => {
        try {
          return summaryOf(id, aggregates) ?? [];
        } catch (err) {
          log.warn({ err, eval_run_id: id }, 'an eval run is left out of a list: it cannot be read');
          return [];
        }
      });
      return { runs, next: found.length > limit ? page.at(-1) : undefined };
    },
    async cancel(id) {
      headFor(id);
      const run = takeUp(id);
      run?.actor.send({ type: 'CANCEL' });
      await ends.get(id);
      return get(id);
    },
    follow(id, stream) {
      headFor(id);
      const run = live.get(id);
      const progress = (): Progress => progressOf(run, table.head(id));
      const reader = createRunReader(stream, () => ({
        run: get(id),
        progress: progress(),
        isOver: !live.has(id),
      }));
      if (!run) return;
      const listener = {
        item: (item: EvalRun['items'][number]) => reader.item(item, progress()),
        // By now the record says how it ended.
        ended: () => reader.ended({ status: table.head(id)?.status ?? 'done', progress: progress() }),
      };
      run.listeners.add(listener);
      stream.onClose(() => run.listeners.delete(listener));
    },
    recover() {
      for (const id of table.unfinished()) {
        try {
          takeUp(id);
        } catch (err) {
          log.error({ err, eval_run_id: id }, 'an eval run cannot be taken up');
        }
      }
    },
    async stop() {
      isStopping = true;
      const all = [...live.values()];
      for (const { actor } of all) actor.send({ type: 'RELEASE' });
      await Promise.all(all.map(({ underway }) => underway));
    },
  };
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
