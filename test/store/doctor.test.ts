import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { openRoot } from '../../src/store/engine/environment.ts';
import { examine, openStore } from '../../src/store/index.ts';
import type { RunRow } from '../../src/store/tables/runs.ts';
import { bundled, nodeCommand } from '../child.ts';
import fc from '../random.ts';
import { startChild } from './child.ts';
import { copyKey } from './open.ts';
import { changeRaw } from './raw.ts';
import { dispatch, event, message, run, SCOPE, threadRecord, write } from './records.ts';
import { changeRuns, storedStates } from './version-4.ts';

/** Examination and repair of a data directory while no service uses it. */

const fill = async (dir: string): Promise<void> => {
  const store = await openStore({ dir, durability: 'power' });
  for (const number of [1, 2, 3]) {
    const thread_id = `t${number}`;
    const first = run(`r${number}`, { thread_id });
    const ended = run(`r${number}`, { thread_id, status: 'done' });
    await write(store, (batch) => {
      store.threads.put(batch, SCOPE, threadRecord(thread_id, number, { resource_id: 'who' }), undefined);
      store.runs.put(batch, SCOPE, first, undefined, 1000 * number);
      store.dispatches.put(batch, SCOPE, dispatch(`d${number}`, { thread_id }), undefined);
      store.messages.append(batch, SCOPE, thread_id, [
        { seq: 1, message: message('m1', `r${number}`), created_at: 1, external: 1 },
        { seq: 2, message: message('m2', `r${number}`, 'internal'), created_at: 1, external: 1 },
      ]);
      store.events.append(batch, SCOPE, thread_id, 1, [event('e1', `r${number}`), event('e2')]);
    });
    await write(store, (batch) => {
      store.runs.put(batch, SCOPE, ended, first, 5000 * number);
      store.messages.append(batch, SCOPE, thread_id, [
        { seq: 3, message: message('m3', `r${number}`), created_at: 2, external: 2 },
      ]);
    });
  }
  for (const id of ['alice', 'bob']) {
    const identity = { issuer: 'https://idp.example', subject: id };
    const of = { kind: 'person', created_at: 1, disabled: false, tokens_not_before: 0 } as const;
    const user = {
      ...of,
      id,
      scope: SCOPE,
      grants: [],
      token_grants: [],
      identity,
      folded: id,
      token_iat: 0,
    };
    const times = { created_at: 1, created_by: '~admin', expires_at: 2, revoked_at: null };
    const key = {
      id: `key-${id}`,
      name: id,
      scope: SCOPE,
      user: id,
      hint: '',
      actor: '',
      digest: `digest-${id}`,
    };
    const session = {
      id: `session-${id}`,
      scope: SCOPE,
      user: id,
      digest: `digest-of-session-${id}`,
      source: { kind: 'key', id: key.id },
      user_agent: null,
      ip: '',
      created_at: 1,
      expires_at: 2,
    } as const;
    await write(store, (batch) => {
      store.users.put(batch, user, undefined);
      store.keys.put(batch, { ...key, ...times, line: key.id, first: true });
      store.credentials.put(batch, key.digest, { kind: 'key', id: key.id });
      store.sessions.put(batch, session);
      store.credentials.put(batch, session.digest, { kind: 'session', id: session.id });
    });
  }
  await store.close();
};

const RAW = [
  'thread_index',
  'run_index',
  'task_index',
  'dispatch_index',
  'open_work',
  'message_by_run',
  'event_by_run',
  'user_folds',
  'user_identities',
  'scope_keys',
  'user_keys',
  'key_ends',
  'user_sessions',
  'session_ends',
  'credentials',
  'counters',
];

/** The bytes of the derived rows. */
const rawRows = async (dir: string): Promise<string[]> => {
  const root = openRoot(dir);
  const found = RAW.flatMap((name) =>
    Array.from(root.openDB(name, { encoding: 'binary' }).getRange(), ({ key, value }) =>
      JSON.stringify([name, key, Buffer.from(value as Buffer).toString('hex')]),
    ),
  );
  await root.close();
  return found;
};

const removeRow = async (dir: string, table: string, at: number): Promise<void> => {
  const root = openRoot(dir);
  const rows = root.openDB(table, { encoding: 'binary' });
  const keys = Array.from(rows.getKeys());
  await rows.remove(keys[at % keys.length] ?? '');
  await root.close();
};

const problemsIn = async (dir: string): Promise<string[]> =>
  (await examine({ dir })).findings.map(({ table, problem, count }) => `${table}: ${problem} (${count})`);

t.test('finds nothing wrong with a directory that the service wrote', async (t) => {
  const dir = t.testdir();
  await fill(dir);
  t.strictSame(await problemsIn(dir), []);
  t.match((await examine({ dir })).rows, { threads: 3, runs: 3, messages: 9 });
});

t.test('rebuilds derived rows exactly as they were', async (t) => {
  const base = t.testdir();
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...RAW), fc.nat(40)), { minLength: 1, maxLength: 4 }),
      async (losses) => {
        round += 1;
        const dir = join(base, `store${round}`);
        await fill(dir);
        const before = await rawRows(dir);
        for (const [table, at] of losses) await removeRow(dir, table, at);
        await examine({ dir, repair: { backup: join(base, `backup${round}`) } });
        t.strictSame(await rawRows(dir), before);
        t.strictSame(await problemsIn(dir), []);
      },
    ),
    { numRuns: 6, seed: 3 },
  );
});

t.test('removes references to a missing record on repair only', async (t) => {
  const dir = join(t.testdir(), 'store');
  await fill(dir);
  await removeRow(dir, 'dispatches', 0);
  const found = ['dispatch_index: a row without a record (1)', 'open_work: a row without a record (1)'];
  t.strictSame(await problemsIn(dir), found);
  t.strictSame(await problemsIn(dir), found);
  const report = await examine({ dir, repair: { backup: join(t.testdirName, 'backup') } });
  t.ok(report.findings.every(({ repaired }) => repaired));
  t.strictSame(await problemsIn(dir), []);
  copyKey(dir, join(t.testdirName, 'backup'));
  t.strictSame(await problemsIn(join(t.testdirName, 'backup')), found);
});

const damaged = async (t: Test, damage: (dir: string) => Promise<void>): Promise<string[]> => {
  const dir = t.testdir();
  await fill(dir);
  await damage(dir);
  return problemsIn(dir);
};

t.test('finds messages of a missing thread', async (t) => {
  const found = await damaged(t, (dir) => removeRow(dir, 'threads', 0));
  t.ok(found.includes('messages: a row of a thread that is not there (3)'), found.join());
});

t.test('finds an undecodable row', async (t) => {
  const found = await damaged(t, async (dir) => {
    const root = openRoot(dir);
    await root.openDB('threads', { encoding: 'binary' }).put([SCOPE, 't1'], Buffer.from([0xc1, 0xdf]));
    await root.close();
  });
  t.ok(
    found.some((line) => /^threads: a row that does not decode \(.+\) \(1\)$/.test(line)),
    found.join('\n'),
  );
});

t.test('finds overwritten pages and stops reading', async (t) => {
  const found = await damaged(t, async (dir) => {
    const file = join(dir, 'data.mdb');
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 8 * 4096, bytes.length - 4096);
    writeFileSync(file, bytes);
  });
  t.ok(
    found.some((line) => line.startsWith('pages of the file: damaged')),
    found.join(),
  );
});

t.test('finds secrets that the key does not open', async (t) => {
  const dir = t.testdir();
  const store = await openStore({ dir, durability: 'power', secretsKey: 'one' });
  await write(store, (batch) => store.documents.put(batch, 'assistant', { a: 1 }));
  await store.close();
  t.strictSame((await examine({ dir, secretsKey: 'one' })).findings, []);
  const { findings } = await examine({ dir, secretsKey: 'two' });
  t.match(findings, [{ table: 'meta', problem: /SERVICE_SECRETS_KEY is not the key/, repaired: false }]);
});

t.test('reports how secrets are encrypted, and writes no key', async (t) => {
  const dir = t.testdir();
  const options = { dir, durability: 'power', holdsSecrets: false } as const;
  const plain = await openStore(options);
  await write(plain, (batch) => plain.documents.put(batch, 'assistant', { a: 1 }));
  await plain.close();
  t.strictSame((await examine({ dir })).secrets, { key: 'none', sealed: 0, older: 1 });
  t.notOk(existsSync(join(dir, 'secrets.key')));
  await (await openStore({ dir, durability: 'power' })).close();
  t.strictSame((await examine({ dir })).secrets, { key: 'file', sealed: 1, older: 0 });
  t.strictSame((await examine({ dir, secretsKey: 'one' })).secrets, { key: 'setting', sealed: 0, older: 1 });
  await (await openStore({ dir, durability: 'power', secretsKey: 'one' })).close();
  t.strictSame((await examine({ dir, secretsKey: 'one' })).secrets, { key: 'setting', sealed: 1, older: 0 });
  await changeRaw(dir, ({ row, put }) => {
    put('documents', ['moved'], row('documents', ['assistant']));
  });
  const { findings } = await examine({ dir, secretsKey: 'one' });
  t.match(findings, [{ table: 'documents', problem: /cannot be decrypted/, examples: ['["moved"]'] }]);
});

t.test('rejects a directory that a service uses', async (t) => {
  const dir = t.testdir();
  const holder = startChild(t, 'child-hold.ts', [dir]);
  await holder.line();
  await t.rejects(examine({ dir }), { message: new RegExp(`in use by process ${holder.pid}`) });
});

/** More rows than one transaction of a repair contains. */
const MANY = 6000;
/** The messages of a single thread exceed the heap. */
const LONG = 4500;
const HEAP_MB = 40;
/** A full collection promotes the young generation, so V8 exits if both do not fit into the old generation. */
const YOUNG = ['--min-semi-space-size=1', '--max-semi-space-size=4'];

t.test('checks and repairs a directory with more rows than memory', async (t) => {
  const dir = join(t.testdir(), 'store');
  const store = await openStore({ dir, durability: 'process' });
  const text = 'x'.repeat(10_000);
  const row = (seq: number, run_id: string) => ({
    seq,
    message: { ...message('m1', run_id), content: [{ type: 'text' as const, text }] },
    created_at: 1,
    external: 1,
  });
  for (let first = 0; first < MANY; first += 500) {
    await write(store, (batch) => {
      for (let number = first; number < first + 500; number += 1) {
        const isLong = number < LONG;
        const thread_id = isLong ? 'long' : `t${number}`;
        if (!isLong || number === 0)
          store.threads.put(batch, SCOPE, threadRecord(thread_id, number, {}), undefined);
        store.messages.append(batch, SCOPE, thread_id, [row(isLong ? number + 1 : 1, `r${number % 7}`)]);
      }
    });
  }
  await store.close();
  t.ok(LONG * text.length > HEAP_MB * 1_000_000);
  const before = await rawRows(dir);
  const root = openRoot(dir);
  await root.openDB('message_by_run', {}).clearAsync();
  await root.close();

  const [command, args] = nodeCommand([
    ...YOUNG,
    `--max-old-space-size=${HEAP_MB}`,
    bundled(fileURLToPath(new URL('examine.ts', import.meta.url))),
    dir,
  ]);
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: 'utf8' });
  t.equal(status, 0, stderr);
  t.match(JSON.parse(stdout), {
    findings: [{ table: 'message_by_run', problem: 'a record without its row', count: MANY }],
    rows: { messages: MANY },
  });

  await examine({ dir, repair: { backup: join(t.testdirName, 'backup') } });
  t.strictSame(await rawRows(dir), before);
  t.strictSame(await problemsIn(dir), []);
});

t.test('repairs missing and wrong states of runs', async (t) => {
  const folder = t.testdir();
  const [dir, backup] = [join(folder, 'data'), join(folder, 'backup')];
  await fill(dir);
  const wrong = (row: RunRow): object => {
    const { machine_state: _missing, ...rest } = row.run;
    if (row.run.run_id === 'r1') return { ...row, run: rest };
    return row.run.run_id === 'r2' ? { ...row, run: { ...row.run, machine_state: 'waiting.forInput' } } : row;
  };
  await changeRuns(dir, wrong);
  const problem = 'a run whose state is missing or contradicts its record';
  const found = { table: 'runs', problem, count: 2, examples: ['["default","r1"]', '["default","r2"]'] };
  t.strictSame((await examine({ dir })).findings, [{ ...found, repaired: false }]);
  t.strictSame((await examine({ dir, repair: { backup } })).findings, [{ ...found, repaired: true }]);
  t.strictSame(await storedStates(dir), { r1: 'completed', r2: 'completed', r3: 'completed' });
  t.strictSame(await problemsIn(dir), []);
  t.strictSame(await storedStates(backup), { r1: undefined, r2: 'waiting.forInput', r3: 'completed' });
});
