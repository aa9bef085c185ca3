import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { Unavailable } from '../../schema/outcome.ts';
import type { Run } from '../../schema/run.ts';
import { copyTo } from '../engine/backup.ts';
import type { Rows } from '../engine/batch.ts';
import { checkDataFile, metaInUse, readDataFile } from '../engine/data-file.ts';
import { closePrivate, openRoot } from '../engine/environment.ts';
import { prepareFolder } from '../engine/folder.ts';
import type { Key } from '../engine/keys.ts';
import { takeOwnership } from '../engine/owner.ts';
import { pageFindings } from '../engine/pages.ts';
import { type DispatchRow, OPEN } from '../tables/dispatches.ts';
import type { StoredMessage } from '../tables/messages.ts';
import { eventsIn, holderOf, placesIn, type StoredEvents } from '../tables/stored-events.ts';
import type { Entry, Records } from './derived.ts';
import { type BlobsReport, examineBlobs } from './doctor-blobs.ts';
import { compareDerived } from './doctor-derived.ts';
import { examineSecrets, type SecretsReport } from './doctor-secrets.ts';
import { createStateCheck, type StateCheck } from './doctor-states.ts';
import { type DoctorTables, type Note, openTables } from './doctor-tables.ts';
import { outdatedTables } from './format.ts';

/**
 * Checks a whole folder while no service uses it: the pages of the file, every row of every table, the states of runs,
 * and the consistency of derived rows. Nothing is changed without `repair`, which copies the folder first, and then
 * corrects states and rebuilds derived rows. Lost records cannot be rebuilt.
 *
 * Cost: one pass over all rows; memory for one row, the counters, the runs of one thread and the runs that are recorded
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
  /** Undefined when the pages of the file are damaged. */
  blobs?: BlobsReport;
  backup?: string;
};

export type DoctorOptions = { dir: string; secretsKey?: string; repair?: { backup: string } };

const EXAMPLES = 5;
/** Tables whose rows belong to a thread. */
const OF_THREADS = [
  'messages',
  'past_states',
  'pending',
  'responses',
  'retractions',
  'state',
  'stopped_answers',
  'tickets',
] as const;

/** @throws Unavailable when a service uses the folder, or its file cannot be opened */
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
    const report = (rows: Record<string, number>, secrets?: SecretsReport, blobs?: BlobsReport): Report => ({
      findings: Array.from(findings.values()),
      rows,
      ...(secrets && { secrets }),
      ...(blobs && { blobs }),
      ...(repair && { backup: repair.backup }),
    });
    // LMDB would follow damaged pages, and crash the process.
    if (findings.size > 0) return report({});
    root = openRoot(dir);
    if (repair) await copyTo({ root, dir }, repair.backup);
    const tables = openTables(root, note);
    const meta: Rows = root.openDB('meta', {});
    const secrets = examineSecrets(
      { dir, meta, secretsKey, entries: (name) => readTable(tables, name) },
      note,
    );
    noteOrphans(tables, note);
    const isRepair = repair !== undefined;
    const states = createStateCheck(root, { tables, repair: isRepair }, note);
    const records = checkedRecords(tables, { states, note });
    const outdated = outdatedTables(meta);
    await compareDerived(root, { tables, records: records.rows, outdated, repair: isRepair }, note);
    records.end();
    const blobs = await examineBlobs(dir, tables, note);
    return report(countRows(tables), secrets, blobs);
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

/** The finding for a run that no regular operation will end; `endStrays` of the runtime ends it. */
export const STRAY_RUN = 'a run that is recorded as running and has no queued or claimed dispatch';

/** Reads the records in the order in which rows are derived from them, and checks each record. */
const checkedRecords = (
  tables: DoctorTables,
  { states, note }: { states: StateCheck; note: Note },
): { rows: Records; end(): void } => {
  const runs = tables.get('runs')?.rows;
  // Rows of one run are adjacent.
  let last: { name: string; holds: boolean } | undefined;
  const holdsAnswer = (scope: unknown, run_id: unknown): boolean => {
    const key = [String(scope), String(run_id)];
    const name = JSON.stringify(key);
    if (last?.name !== name) last = { name, holds: hasAnswer(() => runs?.get(key)) };
    return last.holds;
  };
  /** Notes rows that refer to the answer of a run that does not have it. */
  const checkAnswers = (name: keyof typeof HOLDERS, { key, value }: Entry): void => {
    if (HOLDERS[name](value).some((run_id) => !holdsAnswer(key[0], run_id)))
      note('a row without the answer of its run', name, key);
  };
  /** Runs recorded as running for which no open dispatch was read yet. */
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
    users() {},
    keys() {},
    sessions() {},
    files() {},
  };
  function* checked(name: keyof Records): Iterable<Entry> {
    for (const entry of readTable(tables, name)) {
      checks[name](entry);
      yield entry;
    }
  }
  function* runsWithStates(): Iterable<Entry> {
    for (const entry of checked('runs')) yield states.check(entry);
    states.end();
  }
  return {
    rows: {
      threads: checked('threads'),
      runs: runsWithStates(),
      dispatches: checked('dispatches'),
      messages: checked('messages'),
      events: checked('events'),
      users: checked('users'),
      keys: checked('keys'),
      sessions: checked('sessions'),
      files: checked('files'),
    },
    end() {
      for (const key of strays.values()) note(STRAY_RUN, 'runs', key);
    },
  };
};

/** A row that does not decode has no answer. */
const hasAnswer = (read: () => unknown): boolean => {
  try {
    const row = read();
    return typeof row === 'object' && row !== null && 'held' in row;
  } catch {
    return false;
  }
};

/** Returns the runs whose answers a row refers to. These tables have written the rows. */
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
