import { z } from 'zod';
import { JsonObject } from './json.ts';

/** A remote agent (agent-loop.md 1.2). No error message contains the token. */

export type { Json, JsonObject } from './json.ts';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Removes keys that are null or undefined: both mean absent. */
export const withoutNulls = (given: unknown): unknown =>
  isObject(given)
    ? Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined))
    : given;

/** An object in which null means absent. */
export const nullsAbsent = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((given: z.input<Schema>) => withoutNulls(given), schema);

/** The replacement for a secret in all output. */
export const REDACTED = '***';

const CONFIG = 'invalid remote endpoint config: ';

const baseUrlProblem = (url: string): string | undefined => {
  if (url === '') return 'remote endpoint base_url must not be empty';
  if (!/^https?:\/\//i.test(url)) return 'remote endpoint base_url must use http:// or https://';
  if (!URL.canParse(url)) return `${CONFIG}base_url is not a URL`;
  if (url.includes('#')) return `${CONFIG}base_url must not contain a fragment`;
  return url.includes('?') ? `${CONFIG}base_url must not contain a query string` : undefined;
};

const Auth = z.looseObject({ type: z.string(), token: z.string().optional() }).transform((auth, context) => {
  const { type, token = '' } = auth;
  const problem =
    type !== 'bearer'
      ? `remote endpoint auth type '${type}' is unsupported`
      : token.trim() === ''
        ? 'remote endpoint auth token must not be empty'
        : token === REDACTED
          ? 'remote endpoint auth token cannot be a redacted placeholder'
          : undefined;
  if (problem !== undefined) context.addIssue(problem);
  return { type: 'bearer' as const, token };
});

const isUnsigned = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isUnsigned32 = (value: unknown): boolean => isUnsigned(value) && Number(value) < 2 ** 32;

/** Options of the adapter `a2a` with their types; other options are kept unchecked. */
const A2A_OPTIONS: Readonly<Record<string, { is(value: unknown): boolean; what: string }>> = {
  poll_interval_ms: { is: isUnsigned, what: 'an unsigned integer' },
  history_length: { is: isUnsigned32, what: 'an unsigned integer' },
  return_immediately: { is: (value) => typeof value === 'boolean', what: 'a boolean' },
  a2a_server_id: { is: (value) => typeof value === 'string', what: 'a string' },
};

const Options = JsonObject.superRefine((options, context) => {
  for (const [name, { is, what }] of Object.entries(A2A_OPTIONS)) {
    if (Object.hasOwn(options, name) && !is(options[name])) {
      context.addIssue(`A2A option \`${name}\` must be ${what}`);
    }
  }
});

const Fields = z.strictObject({
  backend: z
    .string()
    .refine((kind) => kind.trim() !== '', 'remote endpoint backend must not be empty')
    .default('a2a'),
  base_url: z
    .string()
    .trim()
    .superRefine((url, context) => {
      const problem = baseUrlProblem(url);
      if (problem !== undefined) context.addIssue(problem);
    }),
  auth: Auth.optional(),
  target: z.string().optional().meta({ description: 'name of the remote agent; a path segment' }),
  timeout_ms: z.int().min(1).default(300_000),
  options: Options.default({}),
});

const OLD = ['bearer_token', 'agent_id', 'poll_interval_ms'];
const CANONICAL = ['backend', 'auth', 'target', 'options'];

/** Converts the old, flat form of endpoints. */
const currentForm = (given: z.input<typeof Fields>, context: z.RefinementCtx): unknown => {
  const endpoint = withoutNulls(given);
  if (!isObject(endpoint)) return endpoint;
  if (!OLD.some((name) => Object.hasOwn(endpoint, name))) return endpoint;
  if (CANONICAL.some((name) => Object.hasOwn(endpoint, name))) {
    context.addIssue('cannot mix legacy A2A endpoint fields with canonical remote endpoint fields');
  }
  const { bearer_token, agent_id, poll_interval_ms, ...rest } = endpoint;
  return {
    ...rest,
    ...(bearer_token !== undefined && { auth: { type: 'bearer', token: bearer_token } }),
    ...(agent_id !== undefined && { target: agent_id }),
    ...(poll_interval_ms !== undefined && { options: { poll_interval_ms } }),
  };
};

export const RemoteEndpoint = z
  .preprocess(currentForm, Fields)
  .meta({ id: 'RemoteEndpoint', description: 'The endpoint of a remote agent.' });
export type RemoteEndpoint = z.infer<typeof RemoteEndpoint>;

/** The stored and external form; empty options are omitted. */
export const endpointJson = ({ options, ...endpoint }: RemoteEndpoint) => ({
  ...endpoint,
  ...(Object.keys(options).length > 0 && { options }),
});
