import { EVENT_KINDS } from '../schema/event-kinds.ts';
import type { Environment } from './engine/environment.ts';
import type { Key } from './engine/keys.ts';
import { COMMONS, numberOfRoot } from './engine/lineage.ts';
import type { ShippedKind } from './kinds.ts';
import type { RunRow } from './tables/runs.ts';
import type { StoredEvents } from './tables/stored-events.ts';
import type { ThreadRecord } from './tables/threads.ts';

/**
 * The lineage of stored rows: the one that their writers ship them with, found from the rows alone.
 *
 * Cost: a look-up for each thread in key order and for each row that is named after a run; memory for the runs with traces.
 */
export type RowLineages = { of(kind: ShippedKind, key: Key, value: unknown): bigint | null };

export const createRowLineages = (env: Environment): RowLineages => {
  const lineages = createLineages(env);
  return {
    of({ table, home }, key, value) {
      if (home !== 'batch') return home === 'commons' ? COMMONS : null;
      const find = FINDERS[table] ?? byThread;
      return find(lineages, key, value);
    },
  };
};

type Lineages = {
  ofThread(scope: string, thread_id: string): bigint;
  ofRun(scope: string, run_id: string): bigint;
  /** A trace is named after its run alone. */
  ofTrace(run_id: string): bigint;
};

const createLineages = (env: Environment): Lineages => {
  const threads = env.table<ThreadRecord>('threads');
  const runs = env.table<RunRow>('runs');
  const traces = env.table<unknown>('traces');
  let last: { name: string; lineage: bigint } | undefined;
  let traced: Map<string, bigint> | undefined;

  /** Rows of one thread are adjacent. */
  const ofThread = (scope: string, thread_id: string): bigint => {
    const name = `${scope}\0${thread_id}`;
    if (last?.name === name) return last.lineage;
    const own = threads.get([scope, thread_id])?.lineage;
    const lineage = own === undefined ? numberOfRoot(scope, thread_id) : BigInt(own);
    last = { name, lineage };
    return lineage;
  };

  const readTraced = (): Map<string, bigint> => {
    const found = new Map<string, bigint>();
    for (const { key, value } of runs.entries({ prefix: [] })) {
      const [scope, run_id] = key.map(String);
      if (scope === undefined || run_id === undefined || !traces.has([run_id])) continue;
      found.set(run_id, ofThread(scope, value.run.thread_id));
    }
    return found;
  };

  return {
    ofThread,
    ofRun: (scope, run_id) => ofThread(scope, runs.get([scope, run_id])?.run.thread_id ?? run_id),
    ofTrace(run_id) {
      traced ??= readTraced();
      return traced.get(run_id) ?? COMMONS;
    },
  };
};

type Find = (lineages: Lineages, key: Key, value: unknown) => bigint;

const byThread: Find = ({ ofThread }, [scope = '', thread_id = '']) =>
  ofThread(String(scope), String(thread_id));

const byRun: Find = ({ ofRun }, [scope = '', run_id = '']) => ofRun(String(scope), String(run_id));

const byTrace: Find = ({ ofTrace }, [run_id = '']) => ofTrace(String(run_id));

/** The log of an eval run is written with the run, and has the id of no thread. */
const isOfEval = (stored: StoredEvents): boolean => {
  const [first] = Array.isArray(stored) ? stored : stored.packed;
  return first !== undefined && Object.hasOwn(EVENT_KINDS.eval, first.event_kind);
};

/** The keys of the other tables begin with the scope and the id of a thread. Rows have the types of their tables. */
const FINDERS: Readonly<Record<string, Find>> = {
  runs: ({ ofThread }, [scope = ''], value) => ofThread(String(scope), (value as RunRow).run.thread_id),
  events({ ofThread }, [scope = '', thread_id = ''], value) {
    return isOfEval(value as StoredEvents) ? COMMONS : ofThread(String(scope), String(thread_id));
  },
  dispatches: ({ ofThread }, [scope = ''], value) =>
    ofThread(String(scope), (value as { dispatch: { thread_id: string } }).dispatch.thread_id),
  deadlines: ({ ofThread }, [, scope = ''], value) =>
    ofThread(String(scope), (value as { thread_id: string }).thread_id),
  thread_expiries: ({ ofThread }, [, scope = '', thread_id = '']) =>
    ofThread(String(scope), String(thread_id)),
  awaiting_tasks: byRun,
  driven_runs: byRun,
  push_configs: byRun,
  push_outbox: byRun,
  push_followed: byRun,
  traces: byTrace,
  trace_events: byTrace,
  // Pins of operators and datasets are written with the configuration.
  trace_references: () => COMMONS,
  transcripts: ({ ofThread }, key) => ofThread(String(key[0]), String(key.at(-1))),
  files(lineages, _key, value) {
    const { scope, thread_id } = value as { scope: string; thread_id?: string };
    return thread_id === undefined ? COMMONS : lineages.ofThread(scope, thread_id);
  },
};
