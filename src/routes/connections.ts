import { z } from 'zod';
import { accountOfPrincipal } from '../connections/account-rights.ts';
import { endOfOffer } from '../connections/try.ts';
import { examples } from '../http/described.ts';
import { reply, route } from '../http/route.ts';
import type { Account } from '../schema/account.ts';
import { Authorization, type AuthorizationHead, ConnectionList } from '../schema/authorization.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Forbidden, NotFound } from '../schema/outcome.ts';
import { demand, type Principal } from '../schema/principal.ts';
import type { AccountRouteDeps, Accounts } from './accounts.ts';
import { outcomeOfConnection } from './connection-failure.ts';

/** Connected accounts of users at MCP servers (identity.md 6.2). */

const ServerParams = z.object({ server: z.string().meta({ description: 'id of an MCP server' }) });

const UserQuery = z.object({
  user: z
    .string()
    .optional()
    .meta({ description: 'the user of the accounts; others than oneself need `manage`' }),
});

const NewConnection = z.strictObject({
  server: z.string().meta({ description: 'id of an MCP server whose `auth` connects users' }),
});

const about = { tag: 'identity' } as const;

export const connectionRoutes = ({
  accounts,
  accessObserver,
}: Pick<AccountRouteDeps, 'accounts' | 'accessObserver'>) => [
  route.get('/v1/connections', {
    ...about,
    id: 'listConnections',
    summary: 'Connected accounts of the user',
    description: 'A key that another user has made for this user sees none of them.',
    needs: 'principal',
    query: UserQuery,
    responses: { 200: ConnectionList },
    handle: ({ principal, query }) => {
      const account = accountFor(accounts, principal, query.user);
      return { items: account ? accounts.connections.list(account) : [] };
    },
  }),
  route.post('/v1/connections', {
    ...about,
    id: 'connect',
    summary: 'Begin to connect an account',
    description:
      'Ahead of need: the same authorization is offered when a call needs the account. Calls that wait for it are resumed once the account is connected.',
    needs: 'principal',
    body: NewConnection.meta(examples({ server: 'calendar' })),
    responses: { 201: Authorization, 404: ErrorBody, 409: ErrorBody },
    async handle({ principal, body: { server } }) {
      const account = accountFor(accounts, principal, undefined);
      if (!account) throw notYours(principal);
      const { scopes } = await outcomeOfConnection(accounts.connections.discover(server));
      const offered = await accounts.authorizations.offer(account, server, scopes);
      return reply(201, shown(accounts, offered));
    },
  }),
  route.delete('/v1/connections/:server', {
    ...about,
    id: 'disconnect',
    summary: 'Disconnect an account',
    description:
      'Revokes the tokens at the authorization server where it supports that, and removes them here. Calls that need the account wait again.',
    needs: 'principal',
    params: ServerParams,
    query: UserQuery,
    responses: { 204: 'disconnected', 404: ErrorBody },
    async handle(request) {
      const {
        principal,
        params: { server },
        query,
      } = request;
      const account = accountFor(accounts, principal, query.user);
      const removed = account && (await outcomeOfConnection(accounts.connections.revoke(account, server)));
      if (!removed) throw new NotFound(`connection not found: ${server}`);
      accessObserver.disconnected(principal, server, request);
      return reply(204);
    },
  }),
];

/** Undefined if the credential may not use the accounts of its user. @throws Forbidden */
const accountFor = (
  { mayUse }: Pick<Accounts, 'mayUse'>,
  principal: Principal,
  user: string | undefined,
): Account | undefined => {
  const { scope } = principal;
  if (user !== undefined && user !== principal.user) {
    demand(principal, ['manage']);
    return { scope, user };
  }
  return mayUse(accountOfPrincipal(principal)) ? { scope, user: principal.user } : undefined;
};

const notYours = ({ user }: Principal): Forbidden =>
  new Forbidden(
    user === undefined
      ? 'connections need a signed-in user'
      : `this credential may not use the accounts of '${user}': another user made it, or it acts for that user`,
    { code: 'forbidden' },
  );

const shown = ({ addresses }: Pick<Accounts, 'addresses'>, head: AuthorizationHead) => ({
  id: head.id,
  server: head.server,
  state: head.state,
  scopes: head.scopes,
  url: addresses().start(head.id),
  expires_at: endOfOffer(head),
});
