import {
  anything,
  type Guarded,
  isObject,
  list,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { invalidate, type Resource } from '../../data/queries.ts';
import { recordsOf } from '../../data/records.ts';
import { pathOf, send } from '../../data/request.ts';

/** Accounts at the authorization servers of MCP servers (identity.md 6.2). */

export const CONNECTIONS = '/v1/connections';

const Connection = object({
  server: text,
  state: text,
  scopes: withDefault(list(text), []),
  issuer: withDefault(text, ''),
  connected_at: number,
  expires_at: optional(number),
});
export type Connection = Guarded<typeof Connection>;

/** @param user undefined for the principal itself */
export const connectionsOf = (user?: string): Resource<{ items: Connection[] }> => ({
  path: CONNECTIONS,
  query: { user },
  guard: object({ items: list(Connection) }),
  off: { statuses: [404] },
});

/** One try to connect an account. */
const Authorization = object({
  id: text,
  scopes: withDefault(list(text), []),
  issuer: optional(text),
});
export type Authorization = Guarded<typeof Authorization>;

export const authorize = (server: string): Promise<Authorization> =>
  send({ method: 'POST', path: CONNECTIONS, body: { server } }, Authorization);

/**
 * The address of the authorization server, which leads back to this console. The console then confirms the connection
 * with the credential of its user, so that no other user can complete it.
 */
export const startAuthorization = async (id: string): Promise<string> => {
  const body = { return_to: `${location.origin}/connections` };
  const request = { method: 'POST', path: pathOf`/v1/authorizations/${id}/start`, body } as const;
  const { url } = await send(request, object({ url: text }));
  // An authorization server that names another kind of address could run a script in this page.
  if (!/^https?:$/.test(new URL(url).protocol))
    throw new Error('the authorization server has no web address');
  return url;
};

export const confirmAuthorization = async (id: string, code: string): Promise<void> => {
  await send({ method: 'POST', path: pathOf`/v1/authorizations/${id}/confirm`, body: { code } }, anything);
  changedConnections();
};

export const disconnect = async (server: string): Promise<void> => {
  await send({ method: 'DELETE', path: pathOf`/v1/connections/${server}` }, anything);
  changedConnections();
};

/** A connection resumes the runs that wait for it. */
export const changedConnections = (): void => invalidate(CONNECTIONS, '/v1/runs');

const Server = object({ id: text, auth: anything });

/** Servers with which each user connects an account. */
export const SERVERS = recordsOf('mcp-servers', Server);

export const isConnectable = ({ auth }: Guarded<typeof Server>): boolean =>
  isObject(auth) && auth.type === 'oauth' && auth.flow !== 'client_credentials';
