import { z } from 'zod';
import { isObject, nullsAbsent, withoutNulls } from './endpoint.ts';
import { JsonObject } from './json.ts';
import { listOf } from './list.ts';
import { requiredText } from './problems.ts';

/**
 * A server whose tools agents may use (config.md 3.5, mcp.md B1). What is said of it that nobody here knows is
 * kept for the reader, and fields of the other transport are passed over.
 */

const u32 = z.int().nonnegative().max(4_294_967_295);

const RestartFields = z.looseObject({
  enabled: z.boolean().default(false),
  max_attempts: u32.optional().meta({ description: 'no limit unless given' }),
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
    url: z.string().optional().meta({ description: 'http: the Streamable HTTP endpoint' }),
    config: JsonObject.default({}).meta({
      description: 'stdio: given to the server at initialisation; http: `headers` go with every request',
    }),
    timeout_secs: z.int().nonnegative().default(30).meta({ description: '0 acts as 1' }),
    env: z.record(z.string(), z.string()).default({}).meta({
      description: 'write-only; a replacement without it keeps what is stored, {} clears it',
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

const stdioProblem = ({ command = '' }: { command?: string | undefined }): string | undefined =>
  command.trim() === '' ? 'stdio mcp server requires a non-empty command' : undefined;

/** The address is not repeated: it may hold a password. */
const httpProblem = ({ url = '', config }: { url?: string | undefined; config: Record<string, unknown> }) => {
  if (url.trim() === '') return 'http mcp server requires a non-empty url';
  if (!/^https?:\/\//i.test(url.trim())) return 'http mcp server url must use http or https';
  const headers = config.headers ?? {};
  if (!isObject(headers)) return 'http mcp server config.headers must be an object of string -> string pairs';
  const wrong = Object.keys(headers).find((name) => typeof headers[name] !== 'string');
  return wrong === undefined ? undefined : `http mcp server config.headers[${wrong}] must be a string`;
};

/** `has_env` and `env_keys` are what the service says of a stored environment. */
const asGiven = (given: z.input<typeof Fields>): unknown => {
  const spec = withoutNulls(given);
  if (!isObject(spec)) return spec;
  const { has_env: _, env_keys: _keys, ...rest } = spec;
  return rest;
};

export const McpServerSpec = z
  .preprocess(asGiven, Fields)
  .meta({ id: 'McpServerSpec', description: 'An MCP server whose tools agents may use.' });
export type McpServerSpec = z.infer<typeof McpServerSpec>;
