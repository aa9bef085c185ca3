import { z } from 'zod';
import { isObject, REDACTED, withoutNulls } from './endpoint.ts';
import { JsonObject } from './json.ts';
import { requiredText } from './problems.ts';

/** A server that provides remote agents (config.md 3.6). No error message contains the token. */

const Auth = z.looseObject({ type: z.string(), token: z.string().optional() }).transform((auth, context) => {
  const { type, token = '' } = auth;
  const problem =
    type !== 'bearer'
      ? 'a2a server auth currently supports only bearer tokens'
      : token.trim() === ''
        ? 'a2a server auth token must not be empty'
        : token === REDACTED
          ? 'a2a server auth token cannot be a redacted placeholder'
          : undefined;
  if (problem !== undefined) context.addIssue(problem);
  return { type: 'bearer' as const, token };
});

const addressProblem = (url: string): string | undefined => {
  if (url.trim() === '') return 'a2a server requires a non-empty base_url';
  if (!URL.canParse(url)) return 'a2a server base_url must be a valid URL: it has no scheme or no host';
  return /^https?:$/.test(new URL(url).protocol) ? undefined : 'a2a server base_url must use http or https';
};

const MAX_TIMEOUT_MS = 30_000;

const timeoutProblem = (ms: number): string | undefined => {
  if (ms < 1) return 'a2a server timeout_ms must be greater than 0';
  return ms > MAX_TIMEOUT_MS
    ? `a2a server timeout_ms must be less than or equal to ${MAX_TIMEOUT_MS}`
    : undefined;
};

const MOST_ORIGINS = 20;

/** Returns the origin of a URL that has nothing else. */
const asOrigin = (text: string, context: z.RefinementCtx): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  context.addIssue('a2a server auth_origins must be origins with http or https, such as https://api.example');
  return z.NEVER;
};

const Fields = z.strictObject({
  id: requiredText('id'),
  base_url: z
    .string()
    .superRefine((url, context) => {
      const problem = addressProblem(url);
      if (problem !== undefined) context.addIssue(problem);
    })
    .meta({ minLength: 1, format: 'uri' }),
  auth: Auth.optional().meta({
    description: 'write-only; a replacement without it keeps the stored value, null clears it',
  }),
  auth_origins: z.array(z.string().transform(asOrigin)).max(MOST_ORIGINS).optional().meta({
    description:
      'origins, in addition to that of base_url, to which the token is sent if the card names them, such as `https://api.example`',
  }),
  target: z.string().optional().meta({ description: 'name of the remote agent' }),
  timeout_ms: z
    .int()
    .superRefine((ms, context) => {
      const problem = timeoutProblem(ms);
      if (problem !== undefined) context.addIssue(problem);
    })
    .default(10_000)
    .meta({ minimum: 1, maximum: MAX_TIMEOUT_MS }),
  options: JsonObject.default({}),
});

/** `has_auth` is an output field that reports a stored token. */
const asGiven = (given: z.input<typeof Fields>): unknown => {
  const spec = withoutNulls(given);
  if (!isObject(spec)) return spec;
  const { has_auth: _, ...rest } = spec;
  return rest;
};

export const A2aServerSpec = z
  .preprocess(asGiven, Fields)
  .meta({ id: 'A2aServerSpec', description: 'A server of remote agents.' });
export type A2aServerSpec = z.infer<typeof A2aServerSpec>;
