import { isObject, type JsonObject, REDACTED } from '../../schema/endpoint.ts';
import { userAuth } from '../../schema/mcp-auth.ts';
import { McpServerSpec } from '../../schema/mcp-server.ts';
import { Invalid } from '../../schema/outcome.ts';
import { parseWorded } from '../../schema/problems.ts';
import { fillMarkers, findMarker, redact } from '../../schema/redaction/redact.ts';
import { isWebAddress } from '../../schema/web-address.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN, withoutOverrides } from './namespace.ts';
import { checkHeaders, checkVariables } from './sendable.ts';

/**
 * Implements config.md 3.5. `env` is write-only: a replacement without it keeps the stored one, an empty one clears it.
 * Every other secret is returned as a marker, and a marker in a body stands for the stored value.
 */
export const createMcpServersNamespace = (missing: MissingForUsers = {}): Namespace => ({
  ...PLAIN,
  name: 'mcp-servers',
  schema: entrySchema('MCP server', McpServerSpec),
  prepare: (given, stored, dropped) => {
    const isKept = given.env === undefined && !isEmpty(stored?.env);
    const marked = isKept ? { ...given, env: REDACTED } : given;
    const {
      has_env: _,
      env_keys: _keys,
      env,
      ...rest
    } = fillMarkers(withStoredSecret(marked, stored), stored, { dropped });
    const filled = withoutEmptyAuth(isEmpty(env) ? rest : { ...rest, env });
    return dropped ? withoutIncompleteAuth(filled) : filled;
  },
  check: (spec) => {
    const { transport, url = '', config, env } = parseWorded('mcp server spec', McpServerSpec, spec);
    if (transport === 'http' && !isWebAddress(url)) {
      throw new Invalid('http mcp server url must be an absolute URL, such as https://mcp.example.com/mcp');
    }
    if (transport === 'http') checkHeaders('http mcp server config.headers', config.headers);
    checkVariables('mcp server env', env);
    const marker = findMarker(spec);
    if (marker) {
      throw new Invalid(`mcp server config cannot hold a redacted placeholder: field '${marker.join('.')}'`);
    }
    return spec;
  },
  usable(spec) {
    const { auth } = McpServerSpec.parse(spec);
    if (!auth || !userAuth({ auth })) return;
    if (missing.secretsKey)
      throw new Invalid('auth of users needs SERVICE_SECRETS_KEY, which encrypts tokens');
    if (missing.publicUrl)
      throw new Invalid('auth of users needs SERVICE_PUBLIC_URL, to which browsers return');
  },
  redact: ({ env, auth, ...rest }) => {
    const names = isObject(env) ? Object.keys(env).sort() : [];
    return {
      ...redact(rest),
      ...(names.length > 0 && { has_env: true, env_keys: names }),
      ...(auth !== undefined && auth !== null && shownAuth(auth)),
    };
  },
  // An entry without an environment stays without one.
  restored: ({ auth, ...payload }) => ({
    env: {},
    ...payload,
    ...(auth !== undefined && { auth: isObject(auth) ? { client_secret: null, ...auth } : auth }),
  }),
  effective: withoutOverrides('mcp-servers'),
});

/** Settings that are missing for tokens of users. */
export type MissingForUsers = { secretsKey?: boolean; publicUrl?: boolean };

/** A replacement without the secret of the client keeps the stored one, as long as its destinations are unchanged. */
const withStoredSecret = (given: JsonObject, stored: JsonObject | undefined): JsonObject => {
  const { auth } = given;
  if (!isObject(auth)) return given;
  const isKept =
    auth.client_secret === undefined &&
    isObject(stored?.auth) &&
    typeof stored.auth.client_secret === 'string';
  return { ...given, auth: { ...withoutReport(auth), ...(isKept && { client_secret: REDACTED }) } };
};

/** Null clears a member. */
const withoutEmptyAuth = ({ auth, ...rest }: JsonObject): JsonObject => {
  if (auth === undefined || auth === null) return rest;
  return { ...rest, auth: isObject(auth) ? withoutNullMembers(auth) : auth };
};

/** A service cannot request a token with its client id alone. Such an entry would be invalid. */
const withoutIncompleteAuth = ({ auth, ...rest }: JsonObject): JsonObject => {
  if (auth === undefined) return rest;
  const lacksSecret =
    isObject(auth) && auth.flow === 'client_credentials' && auth.client_secret === undefined;
  return lacksSecret ? rest : { ...rest, auth };
};

const withoutNullMembers = (auth: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(auth).filter(([, value]) => value !== null));

const withoutReport = ({ has_client_secret: _, ...auth }: JsonObject): JsonObject => auth;

/** A stored `auth` of another form is shown with its secrets masked. */
const shownAuth = (auth: JsonObject[string]): JsonObject => {
  if (!isObject(auth)) return redact({ auth });
  const { client_secret, ...shown } = auth;
  return {
    auth: { ...redact(shown), ...(typeof client_secret === 'string' && { has_client_secret: true }) },
  };
};

const isEmpty = (env: JsonObject[string] | undefined): env is null | undefined =>
  env === undefined || env === null || (isObject(env) && Object.keys(env).length === 0);
