import { mkdtempSync } from 'node:fs';
import type { Test } from 'tap';
import { type ConnectionsDeps, createConnections } from '../../src/connections/connections.ts';
import type { Account } from '../../src/schema/account.ts';
import { McpServerSpec } from '../../src/schema/mcp-server.ts';
import type { Store } from '../../src/store/index.ts';
import { storeFor } from '../store/open.ts';
import type { OAuthKit } from './oauth-server.ts';

/** Connections without the service, with a clock that tests set. */

export const ALICE: Account = { scope: 'acme', user: 'alice' };
export const BOB: Account = { scope: 'acme', user: 'bob' };
export const REDIRECT = 'http://127.0.0.1:9/callback';

export const acting = (account: Account) => ({ ...account, credential: undefined });

export const entry = (kit: OAuthKit, auth: object = {}, more: object = {}): McpServerSpec =>
  McpServerSpec.parse({
    id: 'notes',
    transport: 'http',
    url: kit.url,
    auth: { type: 'oauth', allow_private: true, ...auth },
    ...more,
  });

export const openConnections = async (
  t: Test,
  { store, ...given }: Partial<ConnectionsDeps> & { store?: Store } = {},
) => {
  const clock = { time: 1_800_000_000_000, now: () => clock.time };
  const results: string[] = [];
  const used = store ?? (await storeFor(t, { dir: mkdtempSync(`${t.testdir({ store: {} })}/store/`) }));
  const connections = createConnections({
    store: used,
    clock,
    log: { warn: () => {}, error: () => {} },
    resolve: async (name) => [{ address: name === 'localhost' ? '127.0.0.1' : name, family: 4 }],
    refreshed: (_, result) => void results.push(result),
    refusalOf: () => undefined,
    ...given,
  });
  return { connections, clock, results, store: used };
};

type Opened = Awaited<ReturnType<typeof openConnections>>['connections'];

/** Connects an account like its browser would. */
export const connect = async (
  connections: Opened,
  kit: OAuthKit,
  account: Account = ALICE,
  scopes?: readonly string[],
): Promise<void> => {
  const facts = await connections.discover('notes');
  const { url, attempt } = await connections.begin({
    server: 'notes',
    redirectUri: REDIRECT,
    clientDocument: undefined,
    scopes: scopes ?? facts.scopes,
  });
  await connections.store(account, 'notes', await connections.exchange(attempt, await kit.approve(url)));
};

export const failure = (reason: string) => ({ name: 'ConnectionFailure', reason });
