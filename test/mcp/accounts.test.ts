import t, { type Test } from 'tap';
import { createConnections } from '../../src/connections/connections.ts';
import type { StoredCatalog } from '../../src/mcp/catalogs.ts';
import type { McpManagerDeps } from '../../src/mcp/index.ts';
import type { AuthRequired } from '../../src/mcp/token-source.ts';
import type { Account } from '../../src/schema/account.ts';
import type { McpServerSpec } from '../../src/schema/mcp-server.ts';
import type { Tool, ToolContext } from '../../src/tools/tool.ts';
import { type KitOptions, oauthKit } from '../connections/oauth-server.ts';
import { ALICE, BOB, connect, entry, openConnections } from '../connections/open.ts';
import { manage } from './manage.ts';

/** Calls of tools whose server has `auth`, with connections of several users. */

const open = async (t: Test, options: Partial<KitOptions> = {}, idleMs?: number) => {
  const kit = await oauthKit(t, options);
  const { connections, clock } = await openConnections(t);
  const waits: AuthRequired[] = [];
  const catalogs = new Map<string, StoredCatalog>();
  const authorization: NonNullable<McpManagerDeps['authorization']> = {
    tokens: {
      async token(account, spec, refusal) {
        const found = await connections.token(account, spec, refusal);
        if (found.type === 'token' || found.type === 'refused') return found;
        return { type: 'auth_required', server: spec.id, scopes: found.scopes };
      },
    },
    async wait(needed) {
      waits.push(needed);
      return {
        suspend: {
          suspension: { id: 'auth', action: 'mcp:auth_required' },
          pending: { id: 'auth', name: 'note', arguments: {} },
          resume_mode: 'replay_tool_call',
        },
      };
    },
    catalogs: {
      read: (server) => catalogs.get(server),
      write: (catalog) => void catalogs.set(catalog.server, catalog),
      retain: () => {},
    },
    ...(idleMs !== undefined && { idleMs }),
  };
  const managed = manage(t, { authorization });
  const apply = (...specs: McpServerSpec[]): void => {
    connections.apply(specs);
    managed.manager.apply(specs);
  };
  apply(entry(kit));
  return { kit, connections, clock, waits, catalogs, ...managed, apply };
};

type Opened = Awaited<ReturnType<typeof open>>;

const toolOf = ({ manager }: Pick<Opened, 'manager'>): Tool => {
  const [tool] = manager.tools().get('notes') ?? [];
  if (!tool) throw new Error('the tool is not offered');
  return tool;
};

/** Only these properties of a context are used. */
const contextOf = ({ scope, user }: Account, call_id = 'c1'): ToolContext =>
  ({
    ...{ scope, call_id, run_id: 'r1', thread_id: 't1', agent_id: 'a' },
    ...(user !== undefined && { acts_for: { user, credential: { kind: 'key', id: 'k1' } } }),
    signal: new AbortController().signal,
    progress: () => {},
  }) as unknown as ToolContext;

const listed = async (opened: Opened, account = ALICE): Promise<void> => {
  opened.manager.openFor(account, 'notes');
  await opened.until('notes', ({ tools }) => tools.length > 0);
};

t.test(
  'offers the last listing by any account, and calls with the connection of the user (check 92)',
  async (t) => {
    const opened = await open(t);
    const { kit, connections, manager, waits } = opened;
    t.strictSame(manager.tools().get('notes'), undefined, 'no account is connected');
    t.match(manager.status('notes'), { connected: false, tools: [] });
    await connect(connections, kit, ALICE);
    await listed(opened);
    t.match(manager.status('notes'), { connected: true, tools: [{ name: 'note' }] });
    const tool = toolOf(opened);
    t.match(await tool.execute({ of: 'bob' }, contextOf(BOB)), {
      suspend: { suspension: { action: 'mcp:auth_required' } },
    });
    t.strictSame(waits, [{ type: 'auth_required', server: 'notes', scopes: ['notes:read'] }]);
    t.strictSame(kit.calls, [], 'the connection of another user is not used');
    await connect(connections, kit, BOB);
    const [ofAlice, ofBob] = kit.grants;
    await Promise.all([
      tool.execute({ of: 'alice' }, contextOf(ALICE, 'c2')),
      tool.execute({ of: 'bob' }, contextOf(BOB, 'c3')),
      tool.execute({ of: 'alice' }, contextOf(ALICE, 'c4')),
    ]);
    const used = kit.calls.map(({ grant, args }) => [(args as { of: string }).of, grant.id]);
    t.strictSame(
      used.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)),
      [
        ['alice', ofAlice?.id],
        ['alice', ofAlice?.id],
        ['bob', ofBob?.id],
      ],
    );
    t.match(
      await tool.execute({}, contextOf({ scope: '~acme~alice', user: 'bob' }, 'c5')),
      { data: `grant ${ofBob?.id}` },
      'a run of Bob on a thread of Alice uses his connection',
    );
  },
);

t.test('keeps the listing for the next process and for an entry with the same address', async (t) => {
  const opened = await open(t);
  await connect(opened.connections, opened.kit, ALICE);
  await listed(opened);
  t.match([...opened.catalogs.values()], [{ url: opened.kit.url, tools: [{ name: 'note' }] }]);
  opened.apply(entry(opened.kit, {}, { timeout_secs: 7 }));
  t.equal(toolOf(opened).descriptor.id, 'mcp__notes__note');
  const { tools } = await opened.manager.connect(entry(opened.kit, {}, { timeout_secs: 8 }));
  t.equal(tools.length, 1, 'a write needs no account');
  opened.apply(entry(opened.kit, {}, { url: `${opened.kit.url}2` }));
  t.strictSame(opened.manager.tools().get('notes'), undefined, 'another address has other tools');
});

t.test('refreshes a rejected token and repeats the request once', async (t) => {
  const opened = await open(t);
  await connect(opened.connections, opened.kit, ALICE);
  await listed(opened);
  opened.kit.expireTokens();
  const outputs = await Promise.all(
    ['c1', 'c2', 'c3', 'c4', 'c5'].map((id) => toolOf(opened).execute({}, contextOf(ALICE, id))),
  );
  t.match(outputs, Array(5).fill({ data: /^grant / }));
  t.equal(opened.kit.requests.filter((each) => each === 'POST /token refresh_token').length, 1);
  opened.kit.expireTokens();
  opened.kit.options.refreshError = 'invalid_grant';
  t.match(
    await toolOf(opened).execute({}, contextOf(ALICE, 'c6')),
    { suspend: {} },
    'the call waits again (check 85)',
  );
  opened.kit.options.refreshError = undefined;
  await connect(opened.connections, opened.kit, ALICE);
  t.match(await toolOf(opened).execute({}, contextOf(ALICE, 'c7')), { data: /^grant / });
});

t.test(
  'fails calls during an outage of the authorization server, and asks for no connection (check 85)',
  async (t) => {
    const opened = await open(t);
    await connect(opened.connections, opened.kit, ALICE);
    await listed(opened);
    opened.kit.expireTokens();
    opened.kit.options.tokenStatus = 503;
    await t.rejects(toolOf(opened).execute({}, contextOf(ALICE)), {
      kind: 'execution_failed',
      message: /no new token/,
    });
    t.strictSame(opened.waits, []);
    opened.kit.options.tokenStatus = 200;
    t.match(await toolOf(opened).execute({}, contextOf(ALICE)), { data: /^grant / });
  },
);

t.test('asks for more scopes when a call needs them (check 88)', async (t) => {
  const opened = await open(t);
  await connect(opened.connections, opened.kit, ALICE);
  await listed(opened);
  opened.kit.options.needs = 'notes:write';
  t.match(await toolOf(opened).execute({}, contextOf(ALICE)), { suspend: {} });
  t.strictSame(opened.waits.at(-1)?.scopes, ['notes:read', 'notes:write']);
  await connect(opened.connections, opened.kit, ALICE, ['notes:read', 'notes:write']);
  t.match(await toolOf(opened).execute({}, contextOf(ALICE)), { data: /^grant / });
  const bound = entry(opened.kit, { scopes: ['notes:read'] });
  opened.apply(bound);
  await connect(opened.connections, opened.kit, ALICE);
  await t.rejects(toolOf(opened).execute({}, contextOf(ALICE)), {
    message: /scopes that its entry does not allow: notes:write/,
  });
});

t.test(
  'closes the connection of an account after its idle time, and opens it with the next call',
  async (t) => {
    const opened = await open(t, {}, 20);
    await connect(opened.connections, opened.kit, ALICE);
    await listed(opened);
    await opened.until('notes', ({ connected }) => !connected);
    t.match(opened.manager.states(), [{ server: 'notes', state: 'disconnected' }]);
    t.match(await toolOf(opened).execute({}, contextOf(ALICE)), { data: /^grant / });
  },
);

t.test('uses no connection that was removed, although its session is open', async (t) => {
  const opened = await open(t);
  await connect(opened.connections, opened.kit, ALICE);
  await listed(opened);
  await opened.connections.revoke(ALICE, 'notes');
  t.match(await toolOf(opened).execute({}, contextOf(ALICE)), { suspend: {} });
  opened.manager.closeFor(ALICE, 'notes');
  await opened.until('notes', ({ connected }) => !connected);
});

t.test('repeats no token in logs, states and catalogs (check 89)', async (t) => {
  const opened = await open(t);
  await connect(opened.connections, opened.kit, ALICE);
  await listed(opened);
  const [token = ''] = opened.kit.secrets;
  const text = JSON.stringify([opened.told, opened.manager.status('notes'), [...opened.catalogs.values()]]);
  t.notMatch(text, token);
});

t.test(
  'connects a server with client_credentials like any other, and needs no user (check 90)',
  async (t) => {
    const opened = await open(t, { clients: new Map([['robot', 'its-secret']]) });
    const auth = { flow: 'client_credentials', client_id: 'robot', client_secret: 'its-secret' };
    const spec = entry(opened.kit, { ...auth, issuer: opened.kit.issuer });
    const { tools } = await opened.manager.connect(spec);
    t.equal(tools.length, 1, 'the first connection is opened before the entry is stored');
    opened.apply(spec);
    const noUser = { scope: 'acme', user: undefined };
    for (let n = 0; n < 100; n += 1) await toolOf(opened).execute({}, contextOf(noUser, `c${n}`));
    t.equal(opened.kit.calls.length, 100);
    t.equal(opened.kit.grants.length, 1);
    opened.kit.expireTokens();
    await toolOf(opened).execute({}, contextOf(noUser));
    t.equal(opened.kit.grants.length, 2);
  },
);

t.test('fails calls of runs that may not use connections', async (t) => {
  const opened = await open(t);
  const { store } = await openConnections(t);
  const refusing = createConnections({
    ...{
      store,
      clock: opened.clock,
      log: { warn: () => {}, error: () => {} },
      resolve: async () => [],
      refreshed: () => {},
    },
    refusalOf: () => "server 'notes' needs a signed-in user",
  });
  const answer = await refusing.token({ ...BOB, credential: undefined }, entry(opened.kit));
  t.strictSame(answer, { type: 'refused', message: "server 'notes' needs a signed-in user" });
});
