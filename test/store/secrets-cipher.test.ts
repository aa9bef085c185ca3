import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Unavailable } from '../../src/schema/outcome.ts';
import { createCipher, generateKey, isSealed, secretOf } from '../../src/store/engine/secrets-cipher.ts';
import { openStore, type Store, type StoreOptions } from '../../src/store/index.ts';
import fc, { anyText } from '../random.ts';
import { auditEvent, publication, record, ulidAt, version } from './config-rows.ts';
import { copyKey, storeFor } from './open.ts';
import { changeRaw, sealedUnbound } from './raw.ts';
import { write } from './records.ts';

const KEY = 'correct horse battery staple';
const PLACE = { table: 'config', key: ['models', 'a'] };

t.test('opens what it sealed, with a different text each time', async (t) => {
  const cipher = createCipher(secretOf(KEY));
  fc.assert(
    fc.property(anyText(), (text) => {
      const one = cipher.seal(text, PLACE);
      t.ok(isSealed(one));
      t.not(one, cipher.seal(text, PLACE));
      t.equal(cipher.open(one, PLACE), text);
    }),
    { numRuns: 50 },
  );
  const later = createCipher(secretOf(KEY));
  t.equal(later.open(cipher.seal('later', PLACE), PLACE), 'later', 'the next process has the same secret');
});

t.test('opens nothing with another key, with a changed byte, or without a seal', async (t) => {
  const cipher = createCipher(secretOf(KEY));
  const sealed = cipher.seal('the secret', PLACE);
  const named = {
    name: 'Unavailable',
    message: /row \["models","a"\] of table 'config' cannot be decrypted/,
  };
  t.throws(() => createCipher(secretOf(`${KEY} `)).open(sealed, PLACE), named);
  const start = sealed.lastIndexOf(':') + 1;
  for (let at = start; at < sealed.length; at += 1) {
    const other = sealed.charAt(at) === 'A' ? 'B' : 'A';
    const changed = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
    if (Buffer.from(changed.slice(start), 'base64url').equals(Buffer.from(sealed.slice(start), 'base64url')))
      continue;
    t.throws(() => cipher.open(changed, PLACE), Unavailable);
    break;
  }
  for (const wrong of [
    'sealed:2:',
    'sealed:2:AAAA',
    sealed.slice(0, -4),
    '{"a":1}',
    sealedUnbound(KEY, 'x'),
  ]) {
    t.throws(() => cipher.open(wrong, PLACE), named);
  }
});

t.test('opens a text only in its row', async (t) => {
  const cipher = createCipher(secretOf(KEY));
  const sealed = cipher.seal('the secret', PLACE);
  for (const other of [
    { table: 'documents', key: ['models', 'a'] },
    { table: 'config', key: ['models', 'b'] },
    { table: 'config', key: ['models', 'a', 1] },
    { table: 'config', key: ['models","a'] },
    { table: 'config', key: [] },
  ]) {
    t.throws(() => cipher.open(sealed, other), { message: /was moved from another row/ });
  }
});

t.test('generates random keys and uses them directly', async (t) => {
  t.not(generateKey(), generateKey());
  t.equal(secretOf(generateKey()).length, 32);
  t.notOk(
    secretOf('troupe-key-1:short').equals(Buffer.from('short', 'base64url')),
    'a short text with the prefix of keys is a passphrase',
  );
});

/** More than one commit seals. */
const ROWS = 510;

const SECRET = 'sk-do-not-find-me-6021';

/** Writes a secret to every row that may contain one. */
const writeSecrets = (store: Store): Promise<void> =>
  write(store, (batch) => {
    const holder = { api_key: SECRET, [SECRET]: true };
    store.config.put(
      batch,
      record('a', {
        spec: holder,
        user_overrides: holder,
        published: { spec: holder, hidden: false },
      }),
    );
    for (let n = 0; n < ROWS; n += 1) {
      const payload = { before: holder, after: holder, overrides: holder, error: SECRET };
      store.audit.put(batch, auditEvent(ulidAt(1000, n), payload));
    }
    store.publications.put(batch, publication(1), [version('a', 1, { value: holder })]);
    store.documents.put(batch, 'assistant', holder);
  });

const checkSecrets = (t: Test, store: Store): void => {
  t.equal(store.config.get('models', 'a')?.spec.api_key, SECRET);
  t.equal(store.config.unpublished()[0]?.published?.spec.api_key, SECRET);
  const { items } = store.audit.page({ limit: 2000 });
  t.equal(items.length, ROWS);
  t.ok(items.every(({ after, error }) => after?.api_key === SECRET && error === SECRET));
  t.equal(store.publications.version('default', 'model', 'a', 1)?.value.api_key, SECRET);
  t.equal(store.documents.get('assistant')?.api_key, SECRET);
};

const filesWith = (dir: string, text: string): string[] =>
  readdirSync(dir).filter((name) => readFileSync(join(dir, name)).includes(text));

const filled = async (dir: string, options: Partial<StoreOptions> = {}): Promise<void> => {
  const store = await openStore({ dir, durability: 'process', ...options });
  await writeSecrets(store);
  await store.close();
};

/** Options of earlier versions, which left a directory without a key. */
const PLAIN = { holdsSecrets: false };

const open = (dir: string, secretsKey?: string): Promise<Store> =>
  openStore({ dir, durability: 'process', ...(secretsKey !== undefined && { secretsKey }) });

t.test('writes no secret in plain text to the files, and reads all back', async (t) => {
  for (const options of [{}, { secretsKey: KEY }]) {
    const dir = t.testdir();
    await filled(dir, options);
    t.strictSame(filesWith(dir, SECRET), []);
    t.ok(filesWith(dir, 'sealed:2:').includes('data.mdb'), 'the search finds sealed texts');
    const store = await storeFor(t, { dir, ...options });
    checkSecrets(t, store);
    await store.close();
  }
});

t.test('creates a private key file, and none if a key is configured', async (t) => {
  const dir = t.testdir();
  await filled(dir);
  t.equal(statSync(join(dir, 'secrets.key')).mode & 0o777, 0o600);
  t.match(readFileSync(join(dir, 'secrets.key'), 'utf8'), /^troupe-key-1:[\w-]{43}\n$/);
  const keyed = t.testdir();
  await filled(keyed, { secretsKey: KEY });
  t.strictSame(
    readdirSync(keyed).filter((name) => name.includes('key')),
    [],
  );
});

t.test('opens a store with its key only, and leaves it unchanged otherwise', async (t) => {
  const dir = t.testdir();
  await filled(dir, { secretsKey: KEY });
  await t.rejects(open(dir), { name: 'Unavailable', message: /set SERVICE_SECRETS_KEY to the key/ });
  await t.rejects(open(dir, 'another'), { message: /SERVICE_SECRETS_KEY is not the key that they have/ });
  await t.rejects(open(dir, ' '), { name: 'Invalid', message: /SERVICE_SECRETS_KEY is blank/ });
  t.notOk(existsSync(join(dir, 'secrets.key')), 'no key is generated');
  checkSecrets(t, await storeFor(t, { dir, secretsKey: KEY }));
});

t.test('opens a copy with the original key file, or with its text as a setting', async (t) => {
  const root = t.testdir({ store: {}, other: {} });
  const [dir, copy] = [join(root, 'store'), join(root, 'copy')];
  await filled(dir);
  const store = await open(dir);
  await store.backup(copy);
  await store.close();
  t.strictSame(readdirSync(copy), ['data.mdb']);
  const missing = /'.*copy.secrets\.key' is missing: copy that file from the data directory/;
  await t.rejects(open(copy), { name: 'Unavailable', message: missing });
  await t.rejects(open(copy, 'a phrase'), { message: missing });
  await filled(join(root, 'other'));
  copyKey(join(root, 'other'), copy);
  await t.rejects(open(copy), { message: /secrets\.key' holds another key/ });
  writeFileSync(join(copy, 'secrets.key'), 'troupe-key-1:cut');
  await t.rejects(open(copy), { message: /does not hold a generated key: restore the file/ });
  copyKey(dir, copy);
  const again = await open(copy);
  checkSecrets(t, again);
  await again.close();
  rmSync(join(copy, 'secrets.key'));
  checkSecrets(
    t,
    await storeFor(t, { dir: copy, secretsKey: readFileSync(join(dir, 'secrets.key'), 'utf8').trim() }),
  );
});

t.test('seals plain rows of an earlier version when it is first opened', async (t) => {
  for (const options of [{}, { secretsKey: KEY }]) {
    const root = t.testdir({ store: {} });
    const dir = join(root, 'store');
    await filled(dir, PLAIN);
    t.strictSame(filesWith(dir, SECRET), ['data.mdb']);
    const warnings: string[] = [];
    const store = await openStore({
      dir,
      durability: 'process',
      ...options,
      warn: (it) => warnings.push(it),
    });
    checkSecrets(t, store);
    await store.backup(join(root, 'copy'));
    await store.close();
    t.equal(
      warnings.filter((it) => /are now encrypted with the key in '.*secrets.key'/.test(it)).length,
      'secretsKey' in options ? 0 : 1,
    );
    // Freed pages of the old file may still contain the text, but the copy has none of them.
    t.strictSame(filesWith(join(root, 'copy'), SECRET), []);
    await t.rejects(open(join(root, 'copy')), Unavailable);
  }
});

t.test('seals unbound rows of an earlier version for their rows when it is first opened', async (t) => {
  const dir = t.testdir();
  await filled(dir, { secretsKey: KEY });
  const body = JSON.stringify({ value: { api_key: SECRET } });
  await changeRaw(dir, ({ row, put, meta }) => {
    const key = ['assistant'];
    put('documents', key, { ...row('documents', key), body: sealedUnbound(KEY, body) });
    meta.put('secrets_check', sealedUnbound(KEY, 'troupe'));
    meta.put('secrets_sealed', true);
    meta.remove('secrets_source');
  });
  await t.rejects(open(dir), { message: /set SERVICE_SECRETS_KEY to the key/ });
  const store = await open(dir, KEY);
  checkSecrets(t, store);
  await store.close();
  await changeRaw(dir, ({ row }) => {
    t.match(row('documents', ['assistant']).body, /^sealed:2:/);
  });
});

t.test('continues sealing after an interruption', async (t) => {
  const dir = t.testdir();
  await filled(dir, { secretsKey: KEY });
  // The state after a process ended in the middle: some rows are not sealed yet.
  await changeRaw(dir, ({ row, put, meta }) => {
    const key = ['assistant'];
    put('documents', key, {
      ...row('documents', key),
      body: JSON.stringify({ value: { api_key: SECRET } }),
    });
    meta.remove('secrets_sealed');
  });
  const store = await open(dir, KEY);
  checkSecrets(t, store);
  await store.backup(join(t.testdirName, 'copy'));
  await store.close();
  t.strictSame(filesWith(join(dir, 'copy'), SECRET), []);
});

t.test('replaces a key file with a setting, also after an interruption', async (t) => {
  const dir = t.testdir();
  await filled(dir);
  let older = '';
  await changeRaw(dir, ({ row }) => {
    older = row('documents', ['assistant']).body;
  });
  const warnings: string[] = [];
  const store = await openStore({
    dir,
    durability: 'process',
    secretsKey: KEY,
    warn: (it) => warnings.push(it),
  });
  checkSecrets(t, store);
  await store.close();
  t.match(
    warnings.at(-1),
    /now encrypted with SERVICE_SECRETS_KEY; '.*secrets.key' is only needed for backups/,
  );
  await changeRaw(dir, ({ row, put, meta }) => {
    put('documents', ['assistant'], { ...row('documents', ['assistant']), body: older });
    meta.remove('secrets_sealed');
  });
  await t.rejects(open(dir), { message: /set SERVICE_SECRETS_KEY to the key/ });
  const again = await open(dir, KEY);
  checkSecrets(t, again);
  await again.close();
  rmSync(join(dir, 'secrets.key'));
  checkSecrets(t, await storeFor(t, { dir, secretsKey: KEY }));
});

t.test('fails to read a sealed text that was moved to another row, but reads others', async (t) => {
  const dir = t.testdir();
  const store = await open(dir);
  await write(store, (batch) => {
    for (const id of ['a', 'b'])
      store.config.put(batch, record(id, { spec: { api_key: `${SECRET}-${id}` } }));
  });
  await store.close();
  await changeRaw(dir, ({ row, put }) => {
    put('config', ['models', 'b'], {
      ...row('config', ['models', 'b']),
      body: row('config', ['models', 'a']).body,
    });
  });
  const moved = await storeFor(t, { dir });
  t.throws(() => moved.config.get('models', 'b'), {
    name: 'Unavailable',
    message: /the row \["models","b"\] of table 'config' cannot be decrypted: .* moved from another row/,
  });
  t.equal(moved.config.get('models', 'a')?.spec.api_key, `${SECRET}-a`);
});

t.test('seals other rows although one cannot be opened with any key', async (t) => {
  const dir = t.testdir();
  await filled(dir, PLAIN);
  await changeRaw(dir, ({ row, put }) => {
    put('documents', ['lost'], { ...row('documents', ['assistant']), body: sealedUnbound('lost', '{}') });
  });
  const warnings: string[] = [];
  const store = await storeFor(t, { dir, warn: (it) => warnings.push(it) });
  checkSecrets(t, store);
  t.match(warnings.at(-1), /rows with secrets in .* cannot be decrypted and are not changed: 1; /);
  t.throws(() => store.documents.get('lost'), Unavailable);
});

t.test('creates no key in a trace directory', async (t) => {
  const dir = t.testdir();
  await (await openStore({ dir, durability: 'process', ...PLAIN })).close();
  t.notOk(existsSync(join(dir, 'secrets.key')));
});

t.test('seals rows once, not at every opening', async (t) => {
  const dir = t.testdir();
  await filled(dir, PLAIN);
  await (await open(dir)).close();
  const again = await storeFor(t, { dir });
  t.ok(again.reads < 20);
});
