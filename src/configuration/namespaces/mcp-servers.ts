import { isObject, type JsonObject, REDACTED } from '../../schema/endpoint.ts';
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
export const mcpServersNamespace: Namespace = {
  ...PLAIN,
  name: 'mcp-servers',
  schema: entrySchema('MCP server', McpServerSpec),
  prepare: (given, stored) => {
    const isKept = given.env === undefined && !isEmpty(stored?.env);
    const marked = isKept ? { ...given, env: REDACTED } : given;
    const { has_env: _, env_keys: _keys, env, ...rest } = fillMarkers(marked, stored, 'keep');
    return isEmpty(env) ? rest : { ...rest, env };
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
  redact: ({ env, ...rest }) => {
    const names = isObject(env) ? Object.keys(env).sort() : [];
    return { ...redact(rest), ...(names.length > 0 && { has_env: true, env_keys: names }) };
  },
  // An entry without an environment stays without one.
  restored: (payload, stored) => fillMarkers(stored ? { env: {}, ...payload } : payload, stored, 'drop'),
  effective: withoutOverrides('mcp-servers'),
};

const isEmpty = (env: JsonObject[string] | undefined): env is null | undefined =>
  env === undefined || env === null || (isObject(env) && Object.keys(env).length === 0);
