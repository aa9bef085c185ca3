import type { AuthorizationServer } from 'oauth4webapi';
import { type GuardedResponse, sendGuarded } from '../outbound/guarded-request.ts';
import type { McpAuth } from '../schema/mcp-auth.ts';
import { type Challenge, NO_CHALLENGE, parseChallenge, scopesIn } from './challenge.ts';
import { ConnectionFailure } from './failure.ts';
import { checkAddress, checkBrowserAddress, type Reach, readDocument } from './reach.ts';

/**
 * Finds the authorization server of an MCP server (MCP 2025-11-25, authorization; RFC 9728, RFC 8414).
 *
 * Guarantees: `resource` and `issuer` of the documents equal what was asked for. With a pinned issuer, no other one
 * receives a request. An authorization server without PKCE S256 is refused.
 */
export type Discovered = {
  issuer: string;
  /** As the metadata of the server writes it. */
  resource: string;
  as: AuthorizationServer;
  /** The scopes that an authorization requests. */
  scopes: readonly string[];
};

export type OAuthEntry = { id: string; url: string; auth: McpAuth };

/** @throws ConnectionFailure */
export const discoverServer = async (entry: OAuthEntry, reach: Reach): Promise<Discovered> => {
  const challenge = await readChallenge(entry, reach);
  const metadata = await readResourceMetadata(entry, challenge, reach);
  const { issuer, resource } = issuerOf(entry, metadata);
  const as = await discoverIssuer(issuer, entry.auth, reach);
  const supported = textsIn(metadata?.scopes_supported);
  return { issuer, resource, as, scopes: requestedScopes(entry, challenge.scopes, supported, as) };
};

/** @throws ConnectionFailure */
export const discoverIssuer = async (
  issuer: string,
  { flow }: McpAuth,
  reach: Reach,
): Promise<AuthorizationServer> => {
  const base = checkAddress(issuer, 'the issuer', reach);
  for (const url of issuerDocuments(base)) {
    const document = await readDocument(url, 'the metadata of the authorization server', reach);
    if (document) return checkedServer(document, { issuer, flow, reach });
  }
  throw new ConnectionFailure('refused', 'the authorization server has no metadata');
};

/**
 * Sends requests without a token, to receive the challenge. Some servers accept a session and challenge its first list
 * of tools.
 */
const readChallenge = async ({ url }: OAuthEntry, { resolve }: Reach): Promise<Challenge> => {
  const ask = (method: string, params: object, session?: string): Promise<GuardedResponse> =>
    sendGuarded(new URL(url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: method, method, params }),
      timeoutMs: CHALLENGE_MS,
      largestBytes: 4 * 2 ** 20,
      resolve,
      // The operator has chosen this address, like that of any MCP server.
      mayConnect: () => true,
    }).catch((cause) => {
      throw new ConnectionFailure('unavailable', 'the MCP server cannot be reached', { cause });
    });
  const first = await ask('initialize', INITIALIZE);
  const session = first.headers['mcp-session-id'];
  const answer =
    first.status === 200
      ? await ask('tools/list', {}, typeof session === 'string' ? session : undefined)
      : first;
  const { status, headers } = answer;
  return status === 401 || status === 403 ? parseChallenge(headers['www-authenticate']) : NO_CHALLENGE;
};

const CHALLENGE_MS = 10_000;

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'troupe', version: '0' },
};

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Undefined for a server without this document. */
const readResourceMetadata = async (
  { url }: OAuthEntry,
  { resourceMetadata }: Challenge,
  reach: Reach,
): Promise<Record<string, unknown> | undefined> => {
  const { origin, pathname } = new URL(url);
  const what = 'the metadata of the MCP server';
  const addresses =
    resourceMetadata === undefined
      ? [...(pathname === '/' ? [] : [`${origin}${WELL_KNOWN}${pathname}`]), `${origin}${WELL_KNOWN}`]
      : [resourceMetadata];
  for (const address of addresses) {
    const document = await readDocument(checkAddress(address, what, reach), what, reach);
    if (!document) continue;
    const isOfOrigin = address === `${origin}${WELL_KNOWN}`;
    if (!isSameAddress(document.resource, url) && !(isOfOrigin && isSameAddress(document.resource, origin)))
      throw new ConnectionFailure('refused', `${what} is that of another resource`);
    return document;
  }
  if (resourceMetadata === undefined) return undefined;
  throw new ConnectionFailure('refused', `${what} is missing at the address that the server names`);
};

const isSameAddress = (text: unknown, address: string): text is string =>
  typeof text === 'string' &&
  URL.canParse(text) &&
  !text.includes('#') &&
  new URL(text).href === new URL(address).href;

const issuerOf = (
  { url, auth }: OAuthEntry,
  metadata: Record<string, unknown> | undefined,
): Pick<Discovered, 'issuer' | 'resource'> => {
  const named = textsIn(metadata?.authorization_servers);
  // A server without metadata relies on the entry.
  if (!metadata && auth.issuer !== undefined) return { issuer: auth.issuer, resource: withoutFragment(url) };
  const [first] = named;
  if (first === undefined)
    throw new ConnectionFailure('refused', 'the MCP server names no authorization server');
  if (auth.issuer !== undefined && !named.includes(auth.issuer))
    throw new ConnectionFailure('refused', 'the MCP server names another issuer than its entry');
  return { issuer: auth.issuer ?? first, resource: String(metadata?.resource) };
};

const withoutFragment = (address: string): string => {
  const url = new URL(address);
  url.hash = '';
  return url.href;
};

/** In the order of the specification. */
const issuerDocuments = ({ origin, pathname }: URL): URL[] => {
  const path = pathname.replace(/\/$/, '');
  const addresses =
    path === ''
      ? ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']
      : [
          `/.well-known/oauth-authorization-server${path}`,
          `/.well-known/openid-configuration${path}`,
          `${path}/.well-known/openid-configuration`,
        ];
  return addresses.map((address) => new URL(origin + address));
};

type Checking = { issuer: string; flow: McpAuth['flow']; reach: Reach };

/** @throws ConnectionFailure */
const checkedServer = (
  document: Record<string, unknown>,
  { issuer, flow, reach }: Checking,
): AuthorizationServer => {
  if (document.issuer !== issuer)
    throw new ConnectionFailure(
      'refused',
      'the metadata of the authorization server is that of another issuer',
    );
  checkAddress(document.token_endpoint, 'the token endpoint', reach);
  for (const name of ['registration_endpoint', 'revocation_endpoint'] as const)
    if (document[name] !== undefined) checkAddress(document[name], `the ${name.replace('_', ' ')}`, reach);
  if (flow === 'authorization_code') {
    checkBrowserAddress(document.authorization_endpoint, 'the authorization endpoint', reach);
    if (!textsIn(document.code_challenge_methods_supported).includes('S256'))
      throw new ConnectionFailure('refused', 'the authorization server does not offer PKCE with S256');
  }
  // The members that are used are checked here or by oauth4webapi.
  return document as unknown as AuthorizationServer;
};

export const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** @throws ConnectionFailure if the server asks for more than its entry allows */
const requestedScopes = (
  { id, auth }: OAuthEntry,
  challenged: readonly string[] | undefined,
  supported: readonly string[],
  as: AuthorizationServer,
): readonly string[] => {
  checkBound({ id, auth }, challenged ?? []);
  const scopes = challenged ?? auth.scopes ?? scopesIn(supported.join(' '));
  const isOffered = textsIn(as.scopes_supported).includes(OFFLINE);
  const isAllowed = auth.scopes?.includes(OFFLINE) ?? true;
  return isOffered && isAllowed && auth.flow === 'authorization_code'
    ? [...new Set([...scopes, OFFLINE])]
    : scopes;
};

/** Requests a refresh token where that is a scope. */
export const OFFLINE = 'offline_access';

/** @throws ConnectionFailure */
export const checkBound = (
  { id, auth }: Pick<OAuthEntry, 'id' | 'auth'>,
  scopes: readonly string[],
): void => {
  const beyond = scopes.filter((scope) => auth.scopes && !auth.scopes.includes(scope));
  if (beyond.length > 0)
    throw new ConnectionFailure(
      'refused',
      `server '${id}' asks for scopes that its entry does not allow: ${beyond.join(' ')}`,
    );
};
