import type { Test } from 'tap';
import { createPrincipal } from '../../../src/schema/principal.ts';
import { oauthKit } from '../../connections/oauth-server.ts';
import { asks, type Call } from '../models.ts';
import { ADMIN_TOKEN, type Answer, eventually, startTroupe, type TroupeOptions } from '../troupe.ts';

/**
 * A service with a real MCP server and authorization server, whose users connect their accounts (identity.md 6.2).
 *
 * A header names the user of a request: `alice`, or `alice session` for a browser that is signed in.
 */

export const TOOL = 'mcp__notes__note';
export const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

export type Run = { run_id: string; status: string; waiting?: { message: string; tickets: Ticket[] } };
type Ticket = { ticket_id: string; arguments: { authorization: string; url: string; scopes: string[] } };

export const open = async (t: Test, { auth = {}, ...options }: TroupeOptions & { auth?: object } = {}) => {
  const kit = await oauthKit(t);
  const troupe = await startTroupe(t, {
    ...options,
    app: {
      authenticate({ header }) {
        const [user, kind] = (header('x-user') ?? '').split(' ');
        if (user === undefined || user === '') return undefined;
        const principal = createPrincipal({ scope: 'default', user, grants: ['member', 'write:all'] });
        return kind === undefined ? principal : { ...principal, credential: { kind: 'session', id: 's1' } };
      },
      ...options.app,
    },
    settings: {
      identity: { anonymous: 'always' },
      secrets_key: 'a phrase for the secrets of this test',
      public_url: 'https://agents.example',
      ...options.settings,
    },
  });
  const entry = {
    id: 'notes',
    transport: 'http',
    url: kit.url,
    auth: { type: 'oauth', allow_private: true, scopes: ['read'], ...auth },
  };
  const stored = await troupe.call('POST', '/v1/config/mcp-servers', entry, ADMIN);
  if (stored.status !== 201) throw new Error(JSON.stringify(stored.body));
  const as = (user: string) => ({
    get: (path: string) => troupe.call('GET', path, undefined, { 'x-user': user }),
    post: (path: string, body: unknown = {}) => troupe.call('POST', path, body, { 'x-user': user }),
    remove: (path: string) => troupe.call('DELETE', path, undefined, { 'x-user': user }),
  });
  /** A GET of a browser, which is not redirected. */
  const browse = (url: string, user: string) => {
    const { pathname, search } = new URL(url, 'https://agents.example');
    return fetch(troupe.url + pathname + search, { headers: { 'x-user': user }, redirect: 'manual' });
  };
  const callback = (query: URLSearchParams, user: string) =>
    browse(`/v1/authorizations/callback?${query}`, user);
  /** Starts as an app does, and follows the browser to its return. */
  const throughApp = async (id: string, user: string): Promise<URLSearchParams> => {
    const started = await as(user).post(`/v1/authorizations/${id}/start`, { return_to: '/connections' });
    if (started.status !== 200) throw new Error(JSON.stringify(started.body));
    const back = await callback(await kit.approve(String(started.body.url)), '');
    return new URL(back.headers.get('location') ?? '').searchParams;
  };
  const connect = async (user: string, id?: string): Promise<Answer> => {
    const wanted = id ?? String((await as(user).post('/v1/connections', { server: 'notes' })).body.id);
    const back = await throughApp(wanted, user);
    return as(user).post(`/v1/authorizations/${wanted}/confirm`, { code: back.get('code') });
  };
  const runsOf = async (user: string, thread: string): Promise<Run[]> =>
    (await as(user).get(`/v1/threads/${thread}/runs`)).body.items as Run[];
  const run = async (user: string, threadId: string, ...calls: Call[]): Promise<Run> => {
    troupe.models.steps.push(asks(...calls));
    await as(user).post('/v1/runs', {
      agentId: 'steps',
      threadId,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const [first] = await runsOf(user, threadId);
    if (!first) throw new Error('no run');
    return first;
  };
  const done = (user: string, thread: string) =>
    eventually(
      async () => (await runsOf(user, thread))[0],
      (found) => found?.status === 'done',
    );
  const offered = () =>
    eventually(
      () => troupe.call('GET', '/v1/capabilities', undefined, ADMIN),
      ({ body }) => JSON.stringify(body).includes(TOOL),
    );
  const service = { kit, troupe, as, browse, callback, throughApp, connect, runsOf, run, done };
  // The tools are those of the last listing by any account.
  if ((await connect('operator')).status !== 200) throw new Error('the operator is not connected');
  await offered();
  return service;
};

export const ticketOf = ({ waiting }: Run): Ticket => {
  const [ticket] = waiting?.tickets ?? [];
  if (!ticket) throw new Error('the run has no ticket');
  return ticket;
};
