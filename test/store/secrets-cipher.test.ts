import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Invalid, Unavailable } from '../../src/schema/outcome.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { createCipher, isSealed } from '../../src/store/secrets-cipher.ts';
import fc, { anyText } from '../random.ts';
import { auditEvent, publication, record, ulidAt, version } from './config-rows.ts';
import { storeFor } from './open.ts';
import { write } from './records.ts';

const KEY = 'correct horse battery staple';

t.test('what is sealed is opened with the key, and looks different each time', async (t) => {
  const cipher = createCipher(KEY);
  fc.assert(
    fc.property(anyText(), (text) => {
      const one = cipher.seal(text);
      t.ok(isSealed(one));
      t.not(one, cipher.seal(text));
      t.equal(cipher.open(one), text);
    }),
    { numRuns: 50 },
  );
  t.equal(createCipher(KEY).open(cipher.seal('later')), 'later', 'the next process has the same key');
});

t.test('without the key, with another, or with a changed byte nothing is opened', async (t) => {
  const cipher = createCipher(KEY);
  const sealed = cipher.seal('the secret');
  const named = { name: 'Unavailable', message: /SERVICE_SECRETS_KEY/ };
  t.throws(() => createCipher(undefined).open(sealed), named);
  t.throws(() => createCipher(`${KEY} `).open(sealed), named);
  const start = sealed.lastIndexOf(':') + 1;
  for (let at = start; at < sealed.length; at += 1) {
    const other = sealed.charAt(at) === 'A' ? 'B' : 'A';
    const changed = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
    if (Buffer.from(changed.slice(start), 'base64url').equals(Buffer.from(sealed.slice(start), 'base64url')))
      continue;
    t.throws(() => cipher.open(changed), Unavailable);
    break;
  }
  for (const short of ['sealed:1:', 'sealed:1:AAAA', sealed.slice(0, -4)]) {
    t.throws(() => cipher.open(short), named);
  }
});

t.test('without a key text stays as it is, and plain text is readable with one', async (t) => {
  const cipher = createCipher(KEY);
  t.equal(createCipher(undefined).seal('{"a":1}'), '{"a":1}');
  t.equal(createCipher(undefined).open('{"a":1}'), '{"a":1}');
  t.equal(cipher.open('{"a":1}'), '{"a":1}');
  t.throws(() => createCipher(' '), Invalid);
});

/** More than one commit seals. */
const ROWS = 510;

const SECRET = 'sk-do-not-find-me-6021';

/** A secret in every row that may have one. */
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

const filled = async (dir: string, secretsKey?: string): Promise<void> => {
  const store = await openStore({ dir, durability: 'process', ...(secretsKey && { secretsKey }) });
  await writeSecrets(store);
  await store.close();
};

t.test('with a key no secret is in the bytes of the files, and all are read back', async (t) => {
  const dir = t.testdir();
  await filled(dir, KEY);
  t.strictSame(filesWith(dir, SECRET), []);
  t.ok(filesWith(dir, 'sealed:1:').includes('data.mdb'), 'the search finds what is there');
  checkSecrets(t, await storeFor(t, { dir, secretsKey: KEY }));
});

t.test('without a key they are there, which is what the search finds', async (t) => {
  const dir = t.testdir();
  await filled(dir);
  t.strictSame(filesWith(dir, SECRET), ['data.mdb']);
  checkSecrets(t, await storeFor(t, { dir }));
});

t.test(
  'a store with sealed rows opens with their key only, and stays as it is when it does not',
  async (t) => {
    const dir = t.testdir();
    await filled(dir, KEY);
    for (const secretsKey of [undefined, 'another']) {
      const refused = openStore({ dir, durability: 'process', ...(secretsKey && { secretsKey }) });
      await t.rejects(refused, Unavailable);
      await t.rejects(refused, { message: /SERVICE_SECRETS_KEY/ });
    }
    checkSecrets(t, await storeFor(t, { dir, secretsKey: KEY }));
  },
);

t.test('rows from the time before the key are sealed when the store is opened with one', async (t) => {
  const root = t.testdir({ store: {} });
  const dir = join(root, 'store');
  await filled(dir);
  const store = await openStore({ dir, durability: 'process', secretsKey: KEY });
  checkSecrets(t, store);
  await store.backup(join(root, 'copy'));
  await store.close();
  // Freed pages of the old file may still hold the text; the copy has none of them.
  t.strictSame(filesWith(join(root, 'copy'), SECRET), []);
  await t.rejects(openStore({ dir, durability: 'process' }), { message: /SERVICE_SECRETS_KEY/ });
  await t.rejects(openStore({ dir: join(root, 'copy'), durability: 'process' }), Unavailable);
  checkSecrets(t, await storeFor(t, { dir: join(root, 'copy'), secretsKey: KEY }));
});

t.test('rows are sealed once, not at every opening', async (t) => {
  const dir = t.testdir();
  await filled(dir);
  await (await openStore({ dir, durability: 'process', secretsKey: KEY })).close();
  const again = await storeFor(t, { dir, secretsKey: KEY });
  t.ok(again.reads < 20);
});
