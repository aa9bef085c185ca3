import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { Refusal } from './refusal.ts';

/** Rules that both formats of OpenAI share. */

export const INVALID = 'invalid_request_error';

/** Without it, the real services send one JSON document, which no client of the benchmark needs. */
export const Stream = z.literal(true, 'this upstream only streams: stream must be true');

/** @throws Refusal */
export function checkBearer({ authorization }: IncomingHttpHeaders): void {
  if (/^Bearer \S/.test(authorization ?? '')) return;
  throw new Refusal(401, INVALID, "You didn't provide an API key.");
}

export function describeOpenAi({ kind, message }: Refusal): object {
  return { error: { message, type: kind, param: null, code: null } };
}
