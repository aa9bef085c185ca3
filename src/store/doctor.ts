import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { Unavailable } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import { copyTo } from './backup.ts';
import type { Rows } from './batch.ts';
import { checkDataFile, metaInUse, readDataFile } from './data-file.ts';
import type { Entry, Records } from './derived.ts';
import { type DispatchRow, OPEN } from './dispatches.ts';
import { compareDerived } from './doctor-derived.ts';
import { examineSecrets, type SecretsReport } from './doctor-secrets.ts';
import { type DoctorTables, type Note, openTables } from './doctor-tables.ts';
import { closePrivate, openRoot } from './environment.ts';
import { prepareFolder } from './folder.ts';
import type { Key } from './keys.ts';
import type { StoredMessage } from './messages.ts';
import { takeOwnership } from './owner.ts';
import { pageFindings } from './pages.ts';
import { eventsIn, holderOf, placesIn, type StoredEvents } from './stored-events.ts';

/**
 * Checks a whole folder while no service has it: the pages of the file, every row of every table, and whether rows
 * that follow from others do. Nothing is changed without `repair`, which copies the folder first and then rebuilds rows
 * that follow from others. Lost records cannot be rebuilt.
 *
 * Costs: one pass over all rows; memory for one row, the counters, the runs of one thread and the runs that are recorded
 * as running; the size of the derived tables on disk, in the temporary folder of the system.
 */

export type Finding = {
  problem: string;
  table: string;
  count: number;
  /** Some of the keys. */
  examples: string[];
  repaired: boolean;
};

export type Report = {
  findings: Finding[];
  rows: Record<string, number>;
  /** Undefined when the pages of the file are damaged, and without the right key. */
  secrets?: SecretsReport;
  backup?: string;
};

export type DoctorOptions = { dir: string; secretsKey?: string; repair?: { backup: string } };

const EXAMPLES = 5;
/** Rows that only make sense beside a thread. */
const OF_THREADS = ['messages', 'pending', 'retractions', 'state', 'stopped_answers', 'tickets'] as const;

/** @throws Unavailable when a service has the folder, or its file cannot be opened */
export const examine = async ({ dir: given, secretsKey, repair }: DoctorOptions): Promise<Report> => {
  const dir = prepareFolder(given);
  const ownership = await takeOwnership(dir);
  let root: RootDatabase | undefined;
  try {
    const findings = new Map<string, Finding>();
    const note: Note = (problem, table, key, repaired = false) => {
      const name = `${table}: ${problem}`;
      const found = findings.get(name) ?? { problem, table, count: 0, examples: [], repaired };
      found.count += 1;
      if (found.examples.length < EXAMPLES) found.examples.push(JSON.stringify(key));
      findings.set(name, found);
    };
    checkDataFile(dir);
    notePages(dir, note);
    const report = (rows: Record<string, number>, secrets?: SecretsReport): Report => ({
      findings: Array.from(findings.values()),
      rows,
      ...(secrets && { secrets }),
      ...(repair && { backup: repair.backup }),
    });
    // LMDB would follow what is damaged, and end the process.
    if (findings.size > 0) return report({});
    root = openRoot(dir);
    if (repair) await copyTo(root, repair.backup);
    const tables = openTables(root, note);
    const meta: Rows = root.openDB('meta', {});
    const secrets = examineSecrets(
      { dir, meta, secretsKey, entries: (name) => readTable(tables, name) },
      note,
    );
    noteOrphans(tables, note);
    const records = checkedRecords(tables, note);
    await compareDerived(root, { tables, records: records.rows, repair: repair !== undefined }, note);
    records.end();
    return report(countRows(tables), secrets);
  } finally {
    if (root) await closePrivate(root);
    await ownership.release();
  }
};

const notePages = (dir: string, note: Note): void => {
  const file = join(dir, 'data.mdb');
  const data = readDataFile(file, (what) => new Unavailable(`${file} ${what}`));
  const meta = metaInUse(data);
  for (const { page, what } of meta ? pageFindings(file, data, meta) : [])
    note(what, 'pages of the file', page);
};

const readTable = (tables: DoctorTables, name: string): Iterable<Entry> => tables.get(name)?.read() ?? [];

/** Reads the tables that no check has read. */
const countRows = (tables: DoctorTables): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const [name, table] of tables) {
    if (table.count() === undefined) for (const _ of table.read());
    counts[name] = table.count() ?? 0;
  }
  return counts;
};

const noteOrphans = (tables: DoctorTables, note: Note): void => {
  const check = (name: string, parents: string, parts: number, problem: string): void => {
    const rows = tables.get(parents)?.rows;
    let last: { parent: string; isThere: boolean } | undefined;
    for (const key of tables.get(name)?.keys() ?? []) {
      const parent = key.slice(0, parts);
      const text = JSON.stringify(parent);
      if (last?.parent !== text) last = { parent: text, isThere: rows?.doesExist(parent) ?? false };
      if (!last.isThere) note(problem, name, key);
    }
  };
  for (const name of OF_THREADS) check(name, 'threads', 2, 'a row of a thread that is not there');
  for (const name of ['push_outbox', 'push_followed'])
    check(name, 'push_configs', 4, 'a row of a push config that is not there');
};

/** What a run that nothing will end is called: `endStrays` of the runtime ends it. */
export const STRAY_RUN = 'a run that is recorded as running and has no queued or claimed dispatch';

/** The records in the order in which derived rows follow from them, each checked when it is read. */
const checkedRecords = (tables: DoctorTables, note: Note): { rows: Records; end(): void } => {
  const runs = tables.get('runs')?.rows;
  // Rows of one run follow each other.
  let last: { name: string; holds: boolean } | undefined;
  const holdsAnswer = (scope: unknown, run_id: unknown): boolean => {
    const key = [String(scope), String(run_id)];
    const name = JSON.stringify(key);
    if (last?.name !== name) last = { name, holds: hasAnswer(() => runs?.get(key)) };
    return last.holds;
  };
  /** Rows that refer to the answer of a run that does not have it. */
  const checkAnswers = (name: keyof typeof HOLDERS, { key, value }: Entry): void => {
    if (HOLDERS[name](value).some((run_id) => !holdsAnswer(key[0], run_id)))
      note('a row without the answer of its run', name, key);
  };
  /** Runs that are recorded as running, until an open dispatch of theirs is read. */
  const strays = new Map<string, Key>();
  const checks: Record<keyof Records, (entry: Entry) => void> = {
    threads() {},
    runs({ key, value }) {
      // Runs that tool calls drive have no dispatch; the next start ends them.
      const { status, dispatch_id } = (value as { run: Run }).run;
      if (status === 'running' && dispatch_id !== undefined) strays.set(JSON.stringify(key), key);
    },
    dispatches(entry) {
      const { status, run_id } = (entry.value as DispatchRow).dispatch;
      if (OPEN.includes(status)) strays.delete(JSON.stringify([entry.key[0], run_id]));
      checkAnswers('dispatches', entry);
    },
    messages: (entry) => checkAnswers('messages', entry),
    events: (entry) => checkAnswers('events', entry),
  };
  function* checked(name: keyof Records): Iterable<Entry> {
    for (const entry of readTable(tables, name)) {
      checks[name](entry);
      yield entry;
    }
  }
  return {
    rows: {
      threads: checked('threads'),
      runs: checked('runs'),
      dispatches: checked('dispatches'),
      messages: checked('messages'),
      events: checked('events'),
    },
    end() {
      for (const key of strays.values()) note(STRAY_RUN, 'runs', key);
    },
  };
};

/** A row that does not decode has none. */
const hasAnswer = (read: () => unknown): boolean => {
  try {
    const row = read();
    return typeof row === 'object' && row !== null && 'held' in row;
  } catch {
    return false;
  }
};

/** The runs whose answers a row refers to. Rows are what these tables wrote. */
const HOLDERS: Record<'messages' | 'dispatches' | 'events', (row: unknown) => (string | undefined)[]> = {
  messages(row) {
    const { places, message } = row as StoredMessage;
    return places ? [message.metadata?.run_id] : [];
  },
  dispatches(row) {
    const { places, dispatch } = row as DispatchRow;
    return places ? [dispatch.run_id] : [];
  },
  events(row) {
    const stored = row as StoredEvents;
    return placesIn(stored).map((place) => holderOf(eventsIn(stored), place));
  },
};
