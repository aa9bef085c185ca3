import { isObject, type JsonObject } from '../../schema/endpoint.ts';
import { McpServerSpec } from '../../schema/mcp-server.ts';
import { Invalid } from '../../schema/outcome.ts';
import { parseWorded } from '../../schema/problems.ts';
import { bySecretKey, fillMarkers, findMarker, redact, type SecretPlaces, type Unknown } from '../redact.ts';
import { fillUrl, redactUrl, urlHasMarker } from '../redact-url.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN, withoutOverrides } from './namespace.ts';

/**
 * config.md 3.5. `env` is write-only: a replacement without it keeps the stored one, an empty one clears it. Every
 * other secret reads as a marker, and a marker that comes back stands for what is stored.
 */
export const mcpServersNamespace: Namespace = {
  ...PLAIN,
  name: 'mcp-servers',
  schema: entrySchema('MCP server', McpServerSpec),
  prepare: (given, stored) => {
    const { has_env: _, env_keys: _keys, env, ...rest } = filled(given, stored, 'keep');
    const kept = env === undefined ? stored?.env : env;
    return isEmpty(kept) ? rest : { ...rest, env: kept };
  },
  check: (spec) => {
    parseWorded('mcp server spec', McpServerSpec, spec);
    if (findMarker(spec, isSecret) || (typeof spec.url === 'string' && urlHasMarker(spec.url))) {
      throw new Invalid('mcp server config cannot hold a redacted placeholder');
    }
    return spec;
  },
  redact: ({ env, ...rest }) => {
    const names = isObject(env) ? Object.keys(env).sort() : [];
    return { ...hidden(rest), ...(names.length > 0 && { has_env: true, env_keys: names }) };
  },
  audit: (spec) => hidden(spec),
  restored: (payload, stored) => filled(payload, stored, 'drop'),
  effective: withoutOverrides('mcp-servers'),
};

/** Of the environment and of the headers every value is one, whatever its key. */
const isSecret: SecretPlaces = (path) =>
  bySecretKey(path) ||
  (path.length === 2 && path[0] === 'env') ||
  (path.length === 3 && path[0] === 'config' && path[1] === 'headers');

const hidden = (spec: JsonObject): JsonObject => {
  const { url, ...rest } = redact(spec, isSecret);
  return url === undefined ? rest : { ...rest, url: typeof url === 'string' ? redactUrl(url) : url };
};

const filled = (given: JsonObject, stored: JsonObject | undefined, unknown: Unknown): JsonObject => {
  const spec = fillMarkers(given, stored, unknown, isSecret);
  if (typeof spec.url !== 'string') return spec;
  const known = typeof stored?.url === 'string' ? stored.url : undefined;
  return { ...spec, url: fillUrl(spec.url, known, unknown) };
};

const isEmpty = (env: JsonObject[string] | undefined): env is null | undefined =>
  env === undefined || env === null || (isObject(env) && Object.keys(env).length === 0);
