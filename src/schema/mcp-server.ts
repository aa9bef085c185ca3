import { z } from 'zod';
import { isObject, nullsAbsent, withoutNulls } from './endpoint.ts';
import { JsonObject } from './json.ts';
import { listOf } from './list.ts';
import { McpAuth } from './mcp-auth.ts';
import { requiredText } from './problems.ts';
import { hasUserInfo } from './web-address.ts';

/**
 * An MCP server whose tools agents may use (config.md 3.5, mcp.md B1). Unknown fields are kept for readers, and fields
 * of the other transport are ignored.
 */

const u32 = z.int().nonnegative().max(4_294_967_295);

const RestartFields = z.looseObject({
  enabled: z.boolean().default(false),
  max_attempts: u32.optional().meta({ description: 'default: no limit' }),
  delay_ms: z.int().nonnegative().default(1000),
  backoff_multiplier: z.number().nonnegative().default(2),
  max_delay_ms: z.int().nonnegative().default(30_000),
});

const Fields = z
  .looseObject({
    id: requiredText('id'),
    transport: z.enum(['stdio', 'http']),
    command: z.string().optional().meta({ description: 'stdio: the program' }),
    args: listOf(z.string()).default([]),
    url: z.string().optional().meta({ description: 'http: the Streamable HTTP endpoint', format: 'uri' }),
    config: JsonObject.default({}).meta({
      description:
        'stdio: passed to the server at initialization; http: `headers` are sent with every request',
    }),
    auth: McpAuth.optional().meta({ description: 'http: OAuth client, in place of `config.headers`' }),
    timeout_secs: z.int().nonnegative().default(30).meta({ description: '0 acts as 1' }),
    env: z.record(z.string(), z.string()).default({}).meta({
      description: 'write-only; a replacement without it keeps the stored value, {} clears it',
    }),
    restart_policy: nullsAbsent(RestartFields).prefault({}),
    pin_tools: z.boolean().default(false).meta({
      description:
        'a tool whose definition is new or has changed since the first listing is neither offered nor callable until an operator accepts it',
    }),
  })
  .superRefine((spec, context) => {
    const problem = spec.transport === 'stdio' ? stdioProblem(spec) : httpProblem(spec);
    if (problem !== undefined) context.addIssue(problem);
  });

const stdioProblem = ({ command = '', auth }: StdioFields): string | undefined => {
  if (auth) return 'mcp server auth needs the transport http';
  return command.trim() === '' ? 'stdio mcp server requires a non-empty command' : undefined;
};

type StdioFields = { command?: string | undefined; auth?: McpAuth | undefined };

type HttpFields = {
  url?: string | undefined;
  config: Record<string, unknown>;
  auth?: McpAuth | undefined;
};

/** The error does not repeat the URL, which may contain a password. */
const httpProblem = ({ url = '', config, auth }: HttpFields) => {
  if (url.trim() === '') return 'http mcp server requires a non-empty url';
  if (!/^https?:\/\//i.test(url.trim())) return 'http mcp server url must use http or https';
  const headers = config.headers ?? {};
  if (!isObject(headers)) return 'http mcp server config.headers must be an object of string -> string pairs';
  if (auth && Object.keys(headers).length > 0) return 'mcp server cannot have both auth and config.headers';
  if (auth && hasUserInfo(url.trim())) return 'mcp server with auth cannot have user info in its url';
  const wrong = Object.keys(headers).find((name) => typeof headers[name] !== 'string');
  return wrong === undefined ? undefined : `http mcp server config.headers[${wrong}] must be a string`;
};

/** `has_env`, `env_keys` and `auth.has_client_secret` are output fields that report stored secrets. */
const asGiven = (given: z.input<typeof Fields>): unknown => {
  const spec = withoutNulls(given);
  if (!isObject(spec)) return spec;
  const { has_env: _, env_keys: _keys, auth, ...rest } = spec;
  if (!isObject(auth)) return auth === undefined ? rest : { ...rest, auth };
  const { has_client_secret: _secret, ...client } = auth;
  return { ...rest, auth: client };
};

export const McpServerSpec = z
  .preprocess(asGiven, Fields)
  .meta({ id: 'McpServerSpec', description: 'An MCP server whose tools agents may use.' });
export type McpServerSpec = z.infer<typeof McpServerSpec>;
