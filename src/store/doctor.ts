import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { RootDatabase, RootDatabaseOptions } from 'lmdb';
import { Unavailable } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import { copyTo } from './backup.ts';
import type { Rows } from './batch.ts';
import { type Codec, createCodec } from './codec.ts';
import { checkDataFile, metaInUse, readDataFile } from './data-file.ts';
import { DERIVED, derive, type Entry } from './derived.ts';
import { type DispatchRow, OPEN } from './dispatches.ts';
import { examineSecrets, type SecretsReport } from './doctor-secrets.ts';
import { closePrivate, encoded, openRoot } from './environment.ts';
import { prepareFolder, reasonOf } from './folder.ts';
import type { Key } from './keys.ts';
import type { StoredMessage } from './messages.ts';
import { takeOwnership } from './owner.ts';
import { pageFindings } from './pages.ts';
import { MARKS, SLICED_TABLES } from './removals.ts';
import { eventsIn, holderOf, placesIn, type StoredEvents } from './stored-events.ts';

/**
 * Looks at a whole folder while no service has it: the pages of the file, every row of every table, and whether
 * rows that follow from others do. Nothing is changed, unless it is asked to repair; then the folder is copied
 * first, and rows that follow from others are made anew. What was lost of records cannot be made again.
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
/** Tables that are not written through a codec. */
const PLAIN: readonly string[] = ['counters', 'meta'];

type Note = (problem: string, table: string, key: Key | number, repaired?: boolean) => void;

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
    const tables = readTables(root, note);
    noteOrphans(tables, note);
    noteAnswers(tables, note);
    const entries = (table: string): Entry[] => entriesOf(tables, table);
    const secrets = examineSecrets({ dir, meta: root.openDB('meta', {}), secretsKey, entries }, note);
    noteStrays(tables, note);
    await compare(root, tables, repair !== undefined, note);
    return report(
      Object.fromEntries(Array.from(tables, ([name, table]) => [name, table.entries.length])),
      secrets,
    );
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

type Tables = Map<string, { rows: Rows; codec: Codec | undefined; entries: Entry[] }>;

const readTables = (root: RootDatabase, note: Note): Tables => {
  const structures = root.openDB<string[][], string[]>('structures', { encoding: 'json' });
  const names = Array.from(root.getKeys(), String).filter((name) => name !== 'structures');
  const tables: Tables = new Map();
  for (const name of names) {
    const codec = PLAIN.includes(name) ? undefined : createCodec(name, structures.get([name]));
    // lmdb's type names `encoder` for the root only; a table takes it as well.
    const options: RootDatabaseOptions = codec ? { encoder: codec.packr } : {};
    const rows: Rows = root.openDB(name, options);
    tables.set(name, { rows, codec, entries: Array.from(readable(name, rows, note)) });
  }
  leaveOutRemoved(tables);
  return tables;
};

/** The next start of the service removes the rows of marked threads, see `removals.ts`. */
const leaveOutRemoved = (tables: Tables): void => {
  const marked = new Set(entriesOf(tables, MARKS).map(({ key }) => JSON.stringify(key)));
  if (marked.size === 0) return;
  for (const name of SLICED_TABLES) {
    const table = tables.get(name);
    if (table)
      table.entries = table.entries.filter(({ key }) => !marked.has(JSON.stringify(key.slice(0, 2))));
  }
};

function* readable(name: string, rows: Rows, note: Note): Iterable<Entry> {
  for (const found of rows.getKeys({ snapshot: false })) {
    const key = (Array.isArray(found) ? found : [found]) as Key;
    try {
      yield { key, value: rows.get(key) };
    } catch (error) {
      note(`a row that does not decode (${reasonOf(error).slice(0, 100)})`, name, key);
    }
  }
}

const entriesOf = (tables: Tables, name: string): Entry[] => tables.get(name)?.entries ?? [];

const noteOrphans = (tables: Tables, note: Note): void => {
  const threads = new Set(entriesOf(tables, 'threads').map(({ key }) => JSON.stringify(key)));
  for (const name of OF_THREADS) {
    for (const { key } of entriesOf(tables, name)) {
      if (!threads.has(JSON.stringify(key.slice(0, 2))))
        note('a row of a thread that is not there', name, key);
    }
  }
  const configs = new Set(entriesOf(tables, 'push_configs').map(({ key }) => JSON.stringify(key)));
  for (const name of ['push_outbox', 'push_followed']) {
    for (const { key } of entriesOf(tables, name)) {
      if (!configs.has(JSON.stringify(key.slice(0, 4))))
        note('a row of a push config that is not there', name, key);
    }
  }
};

/** Rows that say what their run has answered, and the run does not hold it. */
const noteAnswers = (tables: Tables, note: Note): void => {
  const held = new Set<string>();
  for (const { key, value } of entriesOf(tables, 'runs'))
    if (typeof value === 'object' && value !== null && 'held' in value) held.add(JSON.stringify(key));
  for (const name of ['messages', 'dispatches', 'events'] as const) {
    for (const { key, value } of entriesOf(tables, name)) {
      const runs = HOLDERS[name](value);
      if (runs.some((run_id) => !held.has(JSON.stringify([key[0], run_id]))))
        note('a row without the answer of its run', name, key);
    }
  }
};

/** The runs that hold what a row says. Rows are what these tables wrote. */
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

/** What a run that nothing will end is called: `endStrays` of the runtime ends it. */
export const STRAY_RUN = 'a run that is recorded as running and has no queued or claimed dispatch';

/** Runs that tool calls drive have no dispatch; the next start ends them. */
const noteStrays = (tables: Tables, note: Note): void => {
  const open = new Set<string>();
  for (const { key, value } of entriesOf(tables, 'dispatches')) {
    const { status, run_id } = (value as DispatchRow).dispatch;
    if (OPEN.includes(status)) open.add(JSON.stringify([key[0], run_id]));
  }
  for (const { key, value } of entriesOf(tables, 'runs')) {
    const { status, dispatch_id } = (value as { run: Run }).run;
    if (status === 'running' && dispatch_id !== undefined && !open.has(JSON.stringify(key)))
      note(STRAY_RUN, 'runs', key);
  }
};

const compare = async (root: RootDatabase, tables: Tables, repair: boolean, note: Note): Promise<void> => {
  const expected = derive({
    threads: entriesOf(tables, 'threads'),
    runs: entriesOf(tables, 'runs'),
    dispatches: entriesOf(tables, 'dispatches'),
    messages: entriesOf(tables, 'messages'),
    events: entriesOf(tables, 'events'),
  });
  const fixes: (() => void)[] = [];
  for (const name of DERIVED) {
    const missing = new Map(expected.tables.get(name));
    const table = tables.get(name);
    if (!table) continue;
    for (const { key, value } of table.entries) {
      const right = missing.get(JSON.stringify(key));
      missing.delete(JSON.stringify(key));
      if (right && isDeepStrictEqual(plain(right.value), plain(value))) continue;
      note(
        right ? 'a row that says something else than its record' : 'a row without a record',
        name,
        key,
        repair,
      );
      fixes.push(() => (right ? put(table, key, right.value) : table.rows.remove(key)));
    }
    for (const { key, value } of missing.values()) {
      note('a record without its row', name, key, repair);
      fixes.push(() => put(table, key, value));
    }
  }
  if (!repair || fixes.length === 0) return;
  const structures = root.openDB('structures', { encoding: 'json' });
  await root.batch(() => {
    for (const fix of fixes) fix();
    for (const { codec } of tables.values()) {
      const changed = codec?.takeChanged();
      if (codec && changed) structures.put(codec.key, encoded(changed));
    }
  });
  await root.flushed;
};

const put = ({ rows, codec }: { rows: Rows; codec: Codec | undefined }, key: Key, value: unknown) =>
  rows.put(key, codec ? encoded(codec.encode(value)) : value);

/** Without prototypes, which the codec does not keep. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
