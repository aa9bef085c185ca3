import t from 'tap';
import { openStore } from '../../src/store/index.ts';
import { examine } from '../../src/store/repair/doctor.ts';
import type { ConnectionRow } from '../../src/store/tables/connections.ts';
import { storeFor } from './open.ts';
import { changeRaw } from './raw.ts';
import { write } from './records.ts';

const ALICE = { scope: 'acme', user: 'alice' };

const connection = (changes: Partial<ConnectionRow> = {}): ConnectionRow => ({
  ...ALICE,
  server: 'notes',
  url: 'https://notes.example/mcp',
  issuer: 'https://login.notes.example',
  resource: 'https://notes.example/mcp',
  state: 'connected',
  scopes: ['read'],
  connected_at: 1,
  secrets: { access_token: 'token-of-alice' },
  ...changes,
});

t.test('keeps connections by account, and heads without their tokens', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    store.connections.put(batch, connection());
    store.connections.put(batch, connection({ server: 'mail' }));
    store.connections.put(batch, connection({ user: 'bob' }));
    store.connections.put(batch, connection({ user: '' }));
    store.connections.put(batch, connection({ scope: '', user: '' }));
  });
  const { secrets: _, ...head } = connection();
  t.strictSame(store.connections.get(ALICE, 'notes'), connection());
  t.strictSame(
    store.connections.heads(ALICE).sort((one, other) => one.server.localeCompare(other.server)),
    [{ ...head, server: 'mail' }, head],
  );
  t.equal(store.connections.heads({ scope: 'acme', user: undefined }).length, 1);
  t.strictSame(store.connections.heads({ scope: 'acme', user: 'al' }), []);
  t.equal([...store.connections.all()].length, 5);
  await write(store, (batch) => store.connections.remove(batch, connection()));
  t.equal(store.connections.get(ALICE, 'notes'), undefined);
});

const KEY = (user: string) => ['=acme', `=${user}`, '=notes'];

t.test(
  'opens tokens neither in another row nor with another issuer, resource or account (check 89)',
  async (t) => {
    for (const change of [
      { key: KEY('bob'), head: {} },
      { key: KEY('bob'), head: { user: 'bob' } },
      { key: KEY('alice'), head: { issuer: 'https://login.evil.example' } },
      { key: KEY('alice'), head: { resource: 'https://evil.example/mcp' } },
      { key: KEY('alice'), head: { scope: 'globex' } },
      { key: KEY('alice'), head: { url: 'https://evil.example/mcp' } },
      { key: KEY('alice'), head: {}, bound: [] },
    ]) {
      const dir = t.testdir();
      const store = await openStore({ dir, durability: 'process' });
      await write(store, (batch) => store.connections.put(batch, connection()));
      await store.close();
      t.strictSame((await examine({ dir })).findings, [], 'the original row opens');
      await changeRaw(dir, ({ row, put }) => {
        const { head, ...rest } = row('connections', KEY('alice'));
        const { key, head: changed, ...bound } = change;
        put('connections', key, { head: { ...head, ...changed }, ...rest, ...bound });
      });
      t.not((await examine({ dir })).findings.length, 0, 'the doctor finds the row');
      const again = await storeFor(t, { dir });
      const [, user = ''] = change.key;
      const read = () => again.connections.get({ scope: 'acme', user: user.slice(1) }, 'notes');
      if ('bound' in change) t.strictSame(read(), connection(), 'the table itself names the fields');
      else t.throws(read, { message: /cannot be decrypted/ });
      await again.close();
    }
  },
);

t.test('keeps authorizations and catalogs', async (t) => {
  const store = await storeFor(t);
  const head = {
    id: 'a1',
    ...ALICE,
    server: 'notes',
    issuer: 'https://login.example',
    resource: 'https://notes.example/mcp',
    state: 'redirected',
    scopes: ['read'],
    offered_at: 1,
    started: { at: 2, state_digest: 'd', by: 'browser' },
  } as const;
  const row = { ...head, attempt: { verifier: 'v' } };
  const catalog = {
    server: 'notes',
    url: 'https://notes.example/mcp',
    tools: [{ name: 'read', inputSchema: { type: 'object' } }],
    unusable: [],
    listed_at: 1,
  };
  await write(store, (batch) => {
    store.authorizations.put(batch, row);
    store.mcpCatalogs.put(batch, catalog);
  });
  t.strictSame(store.authorizations.get('a1'), row);
  t.strictSame([...store.authorizations.heads()], [head]);
  t.strictSame(store.mcpCatalogs.get('notes'), catalog);
  t.strictSame([...store.mcpCatalogs.all()], [catalog]);
  await write(store, (batch) => {
    store.authorizations.remove(batch, 'a1');
    store.mcpCatalogs.remove(batch, 'notes');
  });
  t.equal(store.authorizations.get('a1'), undefined);
  t.equal(store.mcpCatalogs.get('notes'), undefined);
});
