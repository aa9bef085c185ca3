import { z } from 'zod';
import { accountOfPrincipal } from '../connections/account-rights.ts';
import { CALLBACK_PATH, CLIENT_DOCUMENT_PATH, clientDocumentOf } from '../connections/addresses.ts';
import { isOfAccount } from '../connections/authorization-book.ts';
import type { Finished } from '../connections/authorizations.ts';
import { examples } from '../http/described.ts';
import { type Reply, reply } from '../http/reply.ts';
import { route } from '../http/route.ts';
import { AuthorizationEnd, type AuthorizationHead, StartedAuthorization } from '../schema/authorization.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { isLoopback } from '../schema/loopback.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import type { Principal } from '../schema/principal.ts';
import { readReturnTo } from '../schema/return-to.ts';
import type { AccountRouteDeps, Accounts } from './accounts.ts';
import { confirmationPage, page } from './authorization-pages.ts';
import { outcomeOfConnection } from './connection-failure.ts';

/**
 * The browser's part of authorizations (identity.md 6.2).
 *
 * Guarantees: only the user that an authorization was offered to can finish it. A browser that is signed in as that user
 * starts and finishes it; any other browser ends with tokens that only a credential of the user makes
 * usable.
 */

const IdParams = z.object({ id: z.string().meta({ description: 'id of an authorization' }) });

const StartQuery = z.object({
  confirmed: z
    .string()
    .optional()
    .meta({ description: 'proof of the page that has shown the scopes to the user' }),
});

const AppStart = z.strictObject({
  return_to: z.string().max(2048).meta({
    description:
      'where the browser is sent with `authorization` and `code`: an address of this service, or of an origin listed for CORS',
  }),
});

const Confirmation = z.strictObject({
  code: z.string().max(256).meta({ description: 'the `code` that `return_to` has received' }),
});

const about = { tag: 'identity' } as const;

const PAGE = { description: 'A page for the user.', content: { 'text/html': z.string() } } as const;
const REDIRECT = 'the next address of the browser';

export const authorizationRoutes = (deps: AccountRouteDeps) => [
  ...browserRoutes(deps),
  ...appRoutes(deps),
  documentRoute(deps),
];

const browserRoutes = ({ accounts, accessObserver }: AccountRouteDeps) => [
  route.get('/v1/authorizations/:id/start', {
    ...about,
    id: 'startAuthorizationInBrowser',
    summary: 'Send the browser of the user to the authorization server',
    description:
      'Needs a session of the user that the authorization was offered to; without a session it leads through sign-in. The scopes are shown first, unless the entry of the server bounds them.',
    needs: 'anyone',
    offersSignIn: true,
    params: IdParams,
    query: StartQuery,
    responses: { 200: PAGE, 303: REDIRECT, 404: ErrorBody, 409: ErrorBody },
    async handle({ principal, params: { id }, query: { confirmed } }) {
      const path = `/v1/authorizations/${encodeURIComponent(id)}/start`;
      if (principal.credential.kind !== 'session') return redirect(signIn(accounts, path, id));
      ownOf(accounts, principal, id);
      const how = { by: 'browser', confirmed } as const;
      const started = await outcomeOfConnection(accounts.authorizations.start(id, how));
      return 'url' in started
        ? redirect(started.url)
        : confirmationPage(started, `${path}?confirmed=${started.proof}`);
    },
  }),
  route.get(CALLBACK_PATH, {
    ...about,
    id: 'finishAuthorization',
    summary: 'Receive the browser from the authorization server',
    description:
      'Exchanges the code. For an authorization that a browser has started, it needs a session of the same user.',
    needs: 'anyone',
    offersSignIn: true,
    query: z.looseObject({}),
    responses: { 200: PAGE, 303: REDIRECT, 400: PAGE, 403: PAGE, 404: ErrorBody, 409: ErrorBody },
    async handle(request) {
      const { principal, query } = request;
      const given = new URLSearchParams(textsOf(query));
      const found = accounts.authorizations.ofCallback(given);
      if (!found) return page(400, 'This authorization has ended, or another browser began it.');
      if (found.started?.by === 'browser') {
        if (principal.credential.kind !== 'session')
          return redirect(signIn(accounts, `${CALLBACK_PATH}?${given}`, found.id));
        if (!isOfAccount(found, principal)) return page(403, 'Another user began this authorization.');
      }
      const finished = await accounts.authorizations.finish(given);
      if (finished.authorization.state === 'connected')
        accessObserver.connected(principal, finished.authorization.server, request);
      return endOf(finished);
    },
  }),
];

const appRoutes = ({ accounts, isAllowedOrigin, accessObserver }: AccountRouteDeps) => [
  route.post('/v1/authorizations/:id/start', {
    ...about,
    id: 'startAuthorization',
    summary: 'Start an authorization from an app',
    description:
      'Returns the address for the browser of the user. The browser comes back to `return_to` with `authorization` and `code`; the account is connected once the app has confirmed the code.',
    needs: 'principal',
    params: IdParams,
    body: AppStart.meta(examples({ return_to: 'https://app.example/connected' })),
    responses: { 200: StartedAuthorization, 404: ErrorBody, 409: ErrorBody },
    async handle({ principal, params: { id }, body, origin }) {
      ownOf(accounts, principal, id);
      const own = new URL(accounts.addresses().redirectUri);
      const isOwn = (given: string): boolean => isLoopback(own.hostname) && isSameOnLoopback(given, origin());
      const return_to = readReturnTo(
        body.return_to,
        own.origin,
        (given) => isOwn(given) || isAllowedOrigin(given),
      )?.href;
      if (return_to === undefined)
        throw new Invalid('return_to must be an address of this service, or of an origin listed for CORS');
      return outcomeOfConnection(accounts.authorizations.start(id, { by: 'app', return_to }));
    },
  }),
  route.post('/v1/authorizations/:id/confirm', {
    ...about,
    id: 'confirmAuthorization',
    summary: 'Confirm the account that a browser has connected',
    description:
      'Needs a credential of the user that the authorization was offered to. With a credential of another user the tokens are dropped.',
    needs: 'principal',
    params: IdParams,
    body: Confirmation.meta(examples({ code: 'vYk2…' })),
    responses: { 200: AuthorizationEnd, 404: ErrorBody },
    async handle(request) {
      const { principal, params, body } = request;
      if (!accounts.mayUse(accountOfPrincipal(principal))) throw unknown(params.id);
      const { server } = await accounts.authorizations.confirm(params.id, principal, body.code);
      accessObserver.connected(principal, server, request);
      return { server, state: 'connected' };
    },
  }),
];

/** On this host, the console may have been opened under another name than the one that the service listens on. */
const isSameOnLoopback = (given: string, origin: string): boolean =>
  given === origin && isLoopback(new URL(origin).hostname);

const documentRoute = ({ accounts }: Pick<AccountRouteDeps, 'accounts'>) =>
  route.get(CLIENT_DOCUMENT_PATH, {
    ...about,
    id: 'getClientDocument',
    summary: 'The client metadata document',
    description:
      'Describes this service to authorization servers that accept its address as a client id. Only where the public address is https.',
    needs: 'nothing',
    responses: {
      200: z.looseObject({ client_id: z.string(), redirect_uris: z.array(z.string()) }).meta({
        id: 'ClientDocument',
        description: 'OAuth client metadata.',
      }),
      404: ErrorBody,
    },
    handle() {
      const { clientDocument } = accounts.addresses();
      if (clientDocument === undefined) throw new NotFound('the client metadata document needs https');
      return clientDocumentOf(new URL(clientDocument).origin);
    },
  });

/** @throws NotFound, as for an id that was never used */
const ownOf = (
  { authorizations, mayUse }: Pick<Accounts, 'authorizations' | 'mayUse'>,
  principal: Principal,
  id: string,
): AuthorizationHead => {
  const found = authorizations.find(id);
  if (!found || !isOfAccount(found, principal) || !mayUse(accountOfPrincipal(principal))) throw unknown(id);
  return found;
};

const unknown = (id: string): NotFound => new NotFound(`authorization not found: ${id}`);

/** Over http no browser has a session: the console goes the way of apps. */
const signIn = ({ addresses }: Pick<Accounts, 'addresses'>, path: string, id: string): string => {
  const { redirectUri, start } = addresses();
  return redirectUri.startsWith('https:') ? `/sign-in?return_to=${encodeURIComponent(path)}` : start(id);
};

const NO_STORE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

const redirect = (location: string): Reply => reply(303, undefined, { location, ...NO_STORE });

/** The last address or page of the browser. */
const endOf = ({ authorization, code, problem }: Finished): Reply => {
  const { started, server, id } = authorization;
  if (started?.by !== 'app') {
    return problem === undefined
      ? page(200, `'${server}' is connected. You can close this page.`)
      : page(400, `'${server}' is not connected: ${problem}.`);
  }
  const url = new URL(started.return_to);
  url.searchParams.set('authorization', id);
  if (code === undefined) url.searchParams.set('error', problem === 'denied' ? 'denied' : 'failed');
  else url.searchParams.set('code', code);
  return redirect(url.href);
};

const textsOf = (query: Record<string, unknown>): [string, string][] =>
  Object.entries(query).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
