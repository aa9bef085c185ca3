import { ConnectionFailure } from '../../src/connections/failure.ts';
import type { Connections, GrantedTokens, ListedConnection } from '../../src/connections/types.ts';
import type { Account } from '../../src/schema/account.ts';

/** Connections without servers: `code=<anything>` gives tokens, and `code=wrong` is refused. */

const ISSUER = 'https://login.example';
const RESOURCE = 'https://mcp.example/mcp';

const CLIENT = { client_id: 'troupe', token_endpoint_auth_method: 'none' } as const;

export const tokensFor = (server: string, code: string, scopes: readonly string[] = []): GrantedTokens => ({
  server,
  url: RESOURCE,
  issuer: ISSUER,
  resource: RESOURCE,
  scopes,
  client: CLIENT,
  access_token: `token-of-${code}`,
});

export const createScriptedConnections = (now: () => number) => {
  const connected = new Map<string, ListedConnection>();
  const discarded: string[] = [];
  const exchanged: string[] = [];
  const facts = {
    issuer: ISSUER,
    resource: RESOURCE,
    scopes: ['read'] as readonly string[],
    confirm_scopes: false,
  };
  let begun = 0;
  let held: Promise<void> | undefined;
  const connections: Pick<
    Connections,
    'discover' | 'begin' | 'exchange' | 'store' | 'discard' | 'list' | 'revoke'
  > = {
    async discover(server) {
      if (server === 'unknown') throw new ConnectionFailure('unknown', `no such server: ${server}`);
      return facts;
    },
    async begin({ server, redirectUri, scopes }) {
      begun += 1;
      const state = `state-${begun}`;
      return {
        url: `${ISSUER}/authorize?state=${state}&scope=${scopes.join(' ')}`,
        state,
        attempt: {
          server,
          url: RESOURCE,
          issuer: ISSUER,
          resource: RESOURCE,
          scopes,
          state,
          verifier: `verifier-${begun}`,
          redirect_uri: redirectUri,
          client: CLIENT,
        },
      };
    },
    async exchange({ server, scopes, verifier }, query) {
      const code = query.get('code') ?? '';
      exchanged.push(`${code} ${verifier}`);
      await held;
      if (code === 'wrong') throw new ConnectionFailure('refused', 'invalid_grant');
      return tokensFor(server, code, scopes);
    },
    async store(account, server, { scopes, issuer }) {
      connected.set(keyOf(account, server), {
        server,
        state: 'connected',
        scopes,
        issuer,
        connected_at: now(),
      });
    },
    async discard({ access_token }) {
      discarded.push(access_token);
    },
    list: (account) =>
      [...connected].flatMap(([key, value]) => (key === keyOf(account, value.server) ? [value] : [])),
    revoke: async (account, server) => connected.delete(keyOf(account, server)),
  };
  return {
    connections,
    facts,
    discarded,
    exchanged,
    /** Exchanges wait until the returned function is called. */
    hold(): () => void {
      let release = (): void => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
  };
};

const keyOf = ({ scope, user }: Account, server: string): string => JSON.stringify([scope, user, server]);
