import t from 'tap';
import type { Dispatch } from '../../src/schema/dispatch.ts';
import type { RunRecord } from '../../src/schema/run-state.ts';
import type { Batch, Store, ThreadRecord } from '../../src/store/index.ts';
import { LONG } from '../long.ts';
import fc from '../random.ts';
import { checkLoad, copyFor } from './copies.ts';
import { response } from './every-table.ts';
import { createMemorySink } from './memory-sink.ts';
import { dispatch, event, message, run, SCOPE, threadRecord } from './records.ts';

/** Random batches: what is shipped is what is written (check 31). */

/** The records of one thread as they were put last, in any batch. */
type Model = {
  id: string;
  thread: ThreadRecord | undefined;
  runs: Map<string, RunRecord>;
  dispatches: Map<string, Dispatch>;
  seq: number;
  events: number;
  time: number;
};

type Step = { kind: string; thread: number; which: number; waits: boolean };

const ANSWER = 'a response that is long enough to be stored in the row of its run only';

const STEPS: Record<string, (store: Store, batch: Batch, model: Model, which: number) => void> = {
  thread({ threads }, batch, model, which) {
    model.time += 1;
    const links = {
      ...(which % 2 === 0 && { resource_id: `of ${which % 3}` }),
      ...(which % 3 === 0 && { parent_thread_id: 't-parent' }),
      ...(which % 4 === 0 && { expires_at: 100 + which }),
    };
    const lineage = model.id === 't2' ? { lineage: '9007199254740993' } : {};
    const after = { ...threadRecord(model.id, model.time, links), ...lineage };
    threads.put(batch, SCOPE, after, model.thread);
    model.thread = after;
  },
  remove(store, batch, model) {
    if (!model.thread) return;
    store.threads.remove(batch, SCOPE, model.thread);
    store.removals.begin(batch, SCOPE, model.id);
    store.tickets.removeAll(batch, SCOPE, model.id);
    store.pending.removeAll(batch, SCOPE, model.id);
    store.transcripts.removeAll(batch, SCOPE, model.thread.thread);
    store.state.remove(batch, SCOPE, model.id);
    model.thread = undefined;
  },
  run({ runs }, batch, model, which) {
    const run_id = `${model.id}-r${which % 4}`;
    const before = model.runs.get(run_id);
    if (before?.status === 'done') return;
    const isDone = before !== undefined && which % 2 === 0;
    const after = run(run_id, {
      thread_id: model.id,
      status: isDone ? 'done' : which % 3 === 0 ? 'waiting' : 'running',
      ...(isDone && { final_output: ANSWER }),
    });
    model.time += 1;
    runs.put(batch, SCOPE, after, before, model.time);
    model.runs.set(run_id, after);
  },
  messages({ messages }, batch, model, which) {
    const run_id = which % 2 === 0 ? `${model.id}-r${which % 4}` : undefined;
    const rows = Array.from({ length: 1 + (which % 12) }, () => {
      model.seq += 1;
      return {
        seq: model.seq,
        message: message(`m${model.seq}`, run_id),
        created_at: 1,
        external: model.seq,
      };
    });
    messages.append(batch, SCOPE, model.id, rows);
  },
  dispatch({ dispatches }, batch, model, which) {
    const id = `${model.id}-d${which % 4}`;
    const before = model.dispatches.get(id);
    if (before && before.status !== 'Queued') {
      dispatches.remove(batch, SCOPE, before);
      model.dispatches.delete(id);
      return;
    }
    const ended = { status: 'Acked', completed_at: 1000 + which } as const;
    const after = dispatch(id, { thread_id: model.id, priority: which, ...(before && ended) });
    const same = before && { ...after, priority: before.priority };
    dispatches.put(batch, SCOPE, same ?? after, before);
    model.dispatches.set(id, same ?? after);
  },
  events({ events }, batch, model, which) {
    const run_id = which % 2 === 0 ? `${model.id}-r${which % 4}` : undefined;
    const added = Array.from({ length: 1 + (which % 3) }, (_, index) =>
      event(`evt_${model.events}_${index}`, run_id),
    );
    events.append(batch, SCOPE, model.id, model.events + 1, added);
    model.events += added.length;
  },
  state: ({ state }, batch, { id }, which) =>
    which % 4 === 0 ? state.remove(batch, SCOPE, id) : state.put(batch, SCOPE, id, { which }),
  tickets: ({ tickets }, batch, { id }, which) =>
    which % 5 === 0
      ? tickets.removeAll(batch, SCOPE, id)
      : tickets.put(batch, SCOPE, id, { ticket_id: `k${which}`, call_id: `c${which % 3}`, ofCall: which }),
  stopped({ stopped }, batch, { id }, which) {
    const answer = { seq: which, run_id: 'r', message: message('s'), created_at: 1 };
    if (which % 3 === 0) stopped.removeFrom(batch, SCOPE, id, which);
    else stopped.put(batch, SCOPE, id, answer);
  },
  waits({ deadlines, awaiting, driven }, batch, { id }, which) {
    const listed = { scope: SCOPE, thread_id: id, run_id: `${id}-r${which % 4}` };
    if (which % 2 === 0) deadlines.put(batch, { at: which, ...listed });
    else deadlines.remove(batch, { at: which - 1, ...listed });
    if (which % 3 === 0) awaiting.put(batch, listed);
    else awaiting.remove(batch, listed);
    if (which % 5 === 0) driven.put(batch, listed);
    else driven.remove(batch, listed);
  },
  push({ pushConfigs, pushOutbox }, batch, { id }, which) {
    const place = { scope: SCOPE, task_id: `${id}-r${which % 4}`, id: 'hook' };
    if (which % 4 === 3) {
      pushConfigs.remove(batch, place);
      pushOutbox.clear(batch, place);
      return;
    }
    pushConfigs.put(batch, { ...place, url: 'https://hooks.example/' });
    pushOutbox.append(batch, place, { body: '{}', attempts: 0, available_at: which });
    pushOutbox.follow(batch, { place, mark: { state: 'working', timestamp: `${which}` } });
  },
  responses({ responses }, batch, { id }, which) {
    const row = { ...response(`${id}-r`, which % 5), thread_id: id, created_at: which % 5 };
    if (which % 3 === 0) responses.remove(batch, SCOPE, row);
    else if (which % 7 === 0) responses.prune(batch, which % 5, 100);
    else responses.add(batch, SCOPE, row);
  },
  shared({ usage, budgetCounters }, batch, _model, which) {
    const amounts = { runs: 1, inferences: 1, input_tokens: which, output_tokens: 0, nano_usd: 0 };
    usage.add(batch, { scope: SCOPE, day: '2025-12-06', user: 'u', agent: 'a', model: 'm' }, amounts);
    const window = { budget: 'b', identity: 'i', from: 1, combination: `c${which % 2}` };
    budgetCounters.put(batch, { ...window, tokens: which, nano_usd: 0 });
  },
};

const newModel = (id: string): Model => ({
  id,
  thread: undefined,
  runs: new Map(),
  dispatches: new Map(),
  seq: 0,
  events: 0,
  time: 0,
});

const step = fc.record({
  kind: fc.constantFrom(...Object.keys(STEPS)),
  thread: fc.nat(2),
  which: fc.nat(20),
  waits: fc.boolean(),
});

/** Steps of one batch: all are of the thread of the first. */
const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 40 });

const execute = async (store: Store, all: readonly (readonly Step[])[]): Promise<void> => {
  const models = ['t0', 't1', 't2'].map(newModel);
  let commits: Promise<void>[] = [];
  for (const steps of all) {
    const [first] = steps;
    const model = models[first?.thread ?? 0];
    if (!first || !model) continue;
    // A new thread with this id waits for the removal.
    const isRemoval = steps.some(({ kind }) => kind === 'remove');
    if (isRemoval) await Promise.all(commits);
    const batch = store.batch({ scope: SCOPE, thread_id: model.id });
    // A thread has a record before it has anything else.
    if (!model.thread && !isRemoval) STEPS.thread?.(store, batch, model, first.which);
    for (const { kind, which } of steps)
      if (!isRemoval || kind === 'remove') STEPS[kind]?.(store, batch, model, which);
    commits.push(store.commit(batch, first.which % 2 === 0 ? 'input' : 'progress'));
    if (!first.waits && !isRemoval) continue;
    await Promise.all(commits);
    commits = [];
  }
  await Promise.all(commits);
};

t.test('loads from shipped batches what the writer has, row by row (check 31)', async (t) => {
  await fc.assert(
    fc.asyncProperty(batches, fc.nat(3), async (all, delay) => {
      const sink = createMemorySink();
      sink.gate = async () => {
        for (let tick = 0; tick < delay; tick += 1) await new Promise(setImmediate);
      };
      const copy = await copyFor(t, sink);
      await execute(copy.store, all);
      await checkLoad(t, copy);
      if (!t.passing()) throw new Error('the folders differ');
    }),
    { numRuns: LONG ? 100 : 8 },
  );
});
