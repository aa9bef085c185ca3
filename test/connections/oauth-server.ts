import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';

/**
 * An MCP server with its authorization server, as strict as RFC 6749, 7636, 8707, 9207 and 9728 allow: each code is
 * redeemed once, and the reuse of a rotated refresh token revokes the whole grant.
 */

type Grant = {
  id: string;
  client_id: string;
  scope: string;
  resource: string;
  revoked: boolean;
};

export type OAuthKit = {
  url: string;
  issuer: string;
  /** All requests, such as `POST /token refresh_token`. */
  requests: string[];
  grants: Grant[];
  /** Calls of tools, with the grant whose token they carried. */
  calls: { grant: Grant; name: string; args: unknown }[];
  /** Values of all issued secrets. */
  secrets: string[];
  options: KitOptions;
  /** Plays the browser: returns the query of the callback. */
  approve(url: string): Promise<URLSearchParams>;
  /** Ends all access tokens. */
  expireTokens(): void;
};

export type KitOptions = {
  /** Replaces members of the metadata. */
  resourceMetadata: Record<string, unknown>;
  serverMetadata: Record<string, unknown>;
  challenge: string | undefined;
  /** Scope that `tools/call` needs. */
  needs: string | undefined;
  expiresIn: number;
  /** Status of the token endpoint. */
  tokenStatus: number;
  /** Fails refreshes with this error. */
  refreshError: string | undefined;
  /** Delays responses of the token endpoint. */
  hold: Promise<void> | undefined;
  /** Replaces `iss` of the callback; null omits it. */
  iss: string | null | undefined;
  tools: { name: string; inputSchema: object }[];
  /** Registered clients with their secrets. */
  clients: Map<string, string | undefined>;
};

type Code = { grant: Grant; challenge: string; redirect: string; used: boolean };

export const oauthKit = async (t: Test, given: Partial<KitOptions> = {}): Promise<OAuthKit> => {
  const codes = new Map<string, Code>();
  const access = new Map<string, { grant: Grant; ends: boolean }>();
  const refresh = new Map<string, { grant: Grant; used: boolean }>();
  const server = createServer((request, response) => {
    respond(request, response).catch((error) => response.writeHead(500).end(String(error)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kit: OAuthKit = {
    url: `${origin}/mcp`,
    issuer: `${origin}/as`,
    requests: [],
    grants: [],
    calls: [],
    secrets: [],
    options: {
      resourceMetadata: {},
      serverMetadata: {},
      challenge: undefined,
      needs: undefined,
      expiresIn: 3600,
      tokenStatus: 200,
      refreshError: undefined,
      hold: undefined,
      iss: undefined,
      tools: [{ name: 'note', inputSchema: { type: 'object' } }],
      clients: new Map(),
      ...given,
    },
    async approve(url) {
      const answer = await fetch(url, { redirect: 'manual' });
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`no redirect: ${answer.status} ${await answer.text()}`);
      return new URL(location).searchParams;
    },
    expireTokens() {
      for (const token of access.values()) token.ends = true;
    },
  };
  const { options } = kit;

  const json = (response: ServerResponse, status: number, body: unknown, headers = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

  const issue = (grant: Grant, rotated: boolean): object => {
    const [token, next] = [`at-${randomUUID()}`, `rt-${randomUUID()}`];
    kit.secrets.push(token, next);
    access.set(token, { grant, ends: false });
    if (rotated) refresh.set(next, { grant, used: false });
    return {
      access_token: token,
      token_type: 'Bearer',
      expires_in: options.expiresIn,
      scope: grant.scope,
      ...(rotated && { refresh_token: next }),
    };
  };

  const newGrant = (client_id: string, scope: string, resource: string): Grant => {
    const grant = { id: randomUUID(), client_id, scope, resource, revoked: false };
    kit.grants.push(grant);
    return grant;
  };

  const ROUTES: Record<string, (request: IncomingMessage, response: ServerResponse, url: URL) => unknown> = {
    'GET /.well-known/oauth-protected-resource/mcp': (_, response) =>
      json(response, 200, {
        resource: kit.url,
        authorization_servers: [kit.issuer],
        scopes_supported: ['notes:read'],
        ...options.resourceMetadata,
      }),
    'GET /.well-known/oauth-authorization-server/as': (_, response) =>
      json(response, 200, {
        issuer: kit.issuer,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        revocation_endpoint: `${origin}/revoke`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
        authorization_response_iss_parameter_supported: true,
        ...options.serverMetadata,
      }),
    async 'POST /register'(request, response) {
      const { redirect_uris } = JSON.parse(await text(request));
      const client_id = `client-${randomUUID()}`;
      options.clients.set(client_id, undefined);
      json(response, 201, { client_id, redirect_uris, token_endpoint_auth_method: 'none' });
    },
    'GET /authorize'(_, response, { searchParams: q }) {
      const client = q.get('client_id') ?? '';
      const isLegal =
        options.clients.has(client) &&
        q.get('response_type') === 'code' &&
        q.get('code_challenge_method') === 'S256' &&
        q.get('resource') === kit.url;
      if (!isLegal) return json(response, 400, { error: 'invalid_request' });
      const code = `code-${randomUUID()}`;
      const redirect = q.get('redirect_uri') ?? '';
      const grant = newGrant(client, q.get('scope') ?? '', kit.url);
      codes.set(code, { grant, challenge: q.get('code_challenge') ?? '', redirect, used: false });
      const target = new URL(redirect);
      target.searchParams.set('code', code);
      target.searchParams.set('state', q.get('state') ?? '');
      if (options.iss !== null) target.searchParams.set('iss', options.iss ?? kit.issuer);
      response.writeHead(302, { location: target.href }).end();
    },
    async 'POST /token'(request, response) {
      const form = new URLSearchParams(await text(request));
      const kind = form.get('grant_type') ?? '';
      kit.requests[kit.requests.length - 1] += ` ${kind}`;
      await options.hold;
      if (options.tokenStatus !== 200) return response.writeHead(options.tokenStatus).end('out of order');
      const client = clientOf(request, form);
      if (client === undefined) return json(response, 401, { error: 'invalid_client' });
      if (form.get('resource') !== kit.url) return json(response, 400, { error: 'invalid_target' });
      if (kind === 'client_credentials')
        return json(response, 200, issue(newGrant(client, form.get('scope') ?? '', kit.url), false));
      if (kind === 'authorization_code') {
        const code = codes.get(form.get('code') ?? '');
        const digest = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url');
        const isRight =
          code &&
          !code.used &&
          code.grant.client_id === client &&
          code.redirect === form.get('redirect_uri') &&
          code.challenge === digest;
        if (!isRight) return json(response, 400, { error: 'invalid_grant' });
        code.used = true;
        return json(response, 200, issue(code.grant, true));
      }
      const token = refresh.get(form.get('refresh_token') ?? '');
      if (options.refreshError !== undefined) return json(response, 400, { error: options.refreshError });
      if (!token || token.grant.client_id !== client || token.grant.revoked)
        return json(response, 400, { error: 'invalid_grant' });
      if (token.used) {
        token.grant.revoked = true;
        return json(response, 400, { error: 'invalid_grant' });
      }
      token.used = true;
      json(response, 200, issue(token.grant, true));
    },
    async 'POST /revoke'(request, response) {
      const form = new URLSearchParams(await text(request));
      const token = form.get('token') ?? '';
      const grant = refresh.get(token)?.grant ?? access.get(token)?.grant;
      if (grant) grant.revoked = true;
      response.writeHead(200).end();
    },
    async 'POST /mcp'(request, response) {
      const token = access.get((request.headers.authorization ?? '').replace(/^Bearer /, ''));
      const challenge =
        options.challenge ?? `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      if (!token || token.ends || token.grant.revoked)
        return json(response, 401, { error: 'unauthorized' }, { 'www-authenticate': challenge });
      const message = JSON.parse(await text(request));
      if (message.id === undefined) return response.writeHead(202).end();
      const { needs } = options;
      if (
        message.method === 'tools/call' &&
        needs !== undefined &&
        !token.grant.scope.split(' ').includes(needs)
      )
        return json(
          response,
          403,
          { error: 'forbidden' },
          { 'www-authenticate': `Bearer error="insufficient_scope", scope="${needs}"` },
        );
      json(response, 200, { jsonrpc: '2.0', id: message.id, ...answerTo(message, token.grant) });
    },
  };

  const answerTo = (message: { method: string; params: Record<string, unknown> }, grant: Grant): object => {
    switch (message.method) {
      case 'initialize':
        return {
          result: {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'notes', version: '1' },
          },
        };
      case 'tools/list':
        return { result: { tools: options.tools } };
      case 'tools/call':
        kit.calls.push({ grant, name: String(message.params.name), args: message.params.arguments });
        return { result: { content: [{ type: 'text', text: `grant ${grant.id}` }] } };
      default:
        return { error: { code: -32601, message: 'Method not found' } };
    }
  };

  const clientOf = ({ headers }: IncomingMessage, form: URLSearchParams): string | undefined => {
    const basic = /^Basic (?<encoded>.+)$/.exec(headers.authorization ?? '')?.groups?.encoded;
    const [id = '', secret] =
      basic === undefined
        ? [form.get('client_id') ?? '']
        : Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent);
    return options.clients.has(id) && options.clients.get(id) === secret ? id : undefined;
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', origin);
    const name = `${request.method} ${url.pathname}`;
    kit.requests.push(name);
    const route = ROUTES[name];
    if (route) await route(request, response, url);
    else response.writeHead(404).end();
  };
  return kit;
};
