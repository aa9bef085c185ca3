import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnections } from '../../src/connections/connections.ts';
import type { StoredCatalog } from '../../src/mcp/catalogs.ts';
import { createMcpManager } from '../../src/mcp/index.ts';
import { resolveName } from '../../src/outbound/public-address.ts';
import { McpServerSpec } from '../../src/schema/mcp-server.ts';
import { openStore } from '../../src/store/index.ts';
import type { Tool, ToolContext } from '../../src/tools/tool.ts';
import { memoryRecords } from '../mcp/manage.ts';
import type { Scenario } from './mcp-client.ts';

/**
 * A client for the authorization scenarios of the conformance suite: a user whose browser approves everything, and who
 * connects whenever a call waits for it.
 */

const USER = { scope: 'default', user: 'user' };
const REDIRECT = 'http://localhost:3000/callback';
/** The document that the suite expects. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json';
const MOST_TRIES = 3;

const nothing = (): void => {};

const authOf = ({ name, context }: Scenario, issuer: string): object => {
  const { client_id, client_secret } = JSON.parse(context === '' ? '{}' : context);
  const client = client_id === undefined ? {} : { client_id, client_secret, issuer };
  const flow = name.startsWith('auth/client-credentials') ? 'client_credentials' : 'authorization_code';
  return { type: 'oauth', flow, allow_private: true, ...client };
};

/** Entries with a secret name the issuer; the suite announces it in the metadata of its server only. */
const issuerOf = async (url: string): Promise<string> => {
  const { origin, pathname } = new URL(url);
  const answer = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers } = (await answer.json()) as { authorization_servers: [string] };
  return authorization_servers[0];
};

/** @throws the error of the connection or the call */
export const playAuthorization = async (scenario: Scenario): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), 'conformance-'));
  const store = await openStore({ dir, durability: 'process' });
  const connections = createConnections({
    store,
    clock: { now: Date.now },
    log: { warn: nothing, error: nothing },
    resolve: resolveName,
    refreshed: nothing,
    refusalOf: () => undefined,
  });
  const connect = async (scopes?: readonly string[]): Promise<void> => {
    const facts = await connections.discover('suite');
    const { url, attempt } = await connections.begin({
      server: 'suite',
      redirectUri: REDIRECT,
      clientDocument: DOCUMENT,
      scopes: scopes ?? facts.scopes,
    });
    const location = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
    const callback = new URL(location).searchParams;
    await connections.store(USER, 'suite', await connections.exchange(attempt, callback));
  };
  let changed = nothing;
  const listed = new Promise<void>((resolve) => {
    changed = resolve;
  });
  const catalogs = new Map<string, StoredCatalog>();
  const manager = createMcpManager({
    clock: { now: Date.now },
    log: { debug: nothing, warn: nothing },
    version: '0.0.0',
    refreshMs: 0,
    actors: { began: () => nothing },
    scope: 'default',
    records: memoryRecords(),
    observe: { called: nothing, reconnected: nothing },
    authorization: {
      tokens: {
        async token(account, spec, refusal) {
          const found = await connections.token(account, spec, refusal);
          if (found.type === 'token' || found.type === 'refused') return found;
          return { type: 'auth_required', server: spec.id, scopes: found.scopes };
        },
      },
      async wait({ scopes }) {
        await connect(scopes);
        return {
          suspend: {
            suspension: { id: 'auth', action: 'mcp:auth_required' },
            pending: { id: 'auth', name: 'tool', arguments: {} },
            resume_mode: 'replay_tool_call',
          },
        };
      },
      catalogs: {
        read: (server) => catalogs.get(server),
        write: (catalog) => void catalogs.set(catalog.server, catalog),
        retain: nothing,
      },
    },
    changed: () => changed(),
  });
  try {
    const issuer = scenario.context === '' ? '' : await issuerOf(scenario.url).catch(() => '');
    const auth = authOf(scenario, issuer);
    const spec = McpServerSpec.parse({ id: 'suite', transport: 'http', url: scenario.url, auth });
    connections.apply([spec]);
    if (spec.auth?.flow === 'client_credentials') await manager.connect(spec);
    else await connect();
    manager.apply([spec]);
    if (spec.auth?.flow === 'authorization_code') {
      manager.openFor(USER, 'suite');
      await listed;
    }
    for (const tool of manager.tools().get('suite') ?? []) await callUntilDone(tool);
  } finally {
    await manager.close();
    await connections.close();
    await store.close();
    await rm(dir, { recursive: true });
  }
};

/** A suspended call is executed again after its user has connected. */
const callUntilDone = async (tool: Tool): Promise<void> => {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const output = await tool.execute({}, CONTEXT);
    if (!('suspend' in output)) return;
  }
};

/** Tools of MCP servers use only this part of a context. */
const CONTEXT = {
  ...{ scope: 'default', agent_id: 'agent', thread_id: 'thread', run_id: 'run', call_id: 'call' },
  acts_for: { user: USER.user, credential: { kind: 'program' } },
  signal: new AbortController().signal,
  progress: nothing,
} as unknown as ToolContext;
