import { isObject } from '../../schema/endpoint.ts';
import { parseExactly } from '../../schema/exact-integers.ts';
import type { JsonObject } from '../../schema/json.ts';
import type { InferenceUsage } from '../model.ts';
import type { AnswerWriter } from './wire.ts';

/** Readers for provider JSON: each returns the requested value, or undefined if the data has another type. */

/** Parses the data of an event as an object. Returns undefined for data that no format sends, which is ignored. */
export const objectIn = (data: string): JsonObject | undefined => {
  try {
    return objectOf(parseExactly(data));
  } catch {
    // The data is not JSON, such as a proxy's comment or a plain-text ping. No format has such an event.
    return undefined;
  }
};

export const objectOf = (value: unknown): JsonObject | undefined =>
  isObject(value) ? (value as JsonObject) : undefined;

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A valid token count; undefined for any other value. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** `prompt` includes the cache reads and writes, `completion` includes `thinking`. */
export type Counts = {
  prompt?: number | undefined;
  completion?: number | undefined;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
  /** The part of `cacheWrite` that the provider keeps for an hour. */
  cacheWriteHour?: number | undefined;
  thinking?: number | undefined;
  /** The provider's charge in USD. */
  cost?: number | undefined;
};

/** Missing details and details of 0 are both omitted. */
export const reportUsage = (answer: AnswerWriter, counts: Counts): void => {
  const { prompt, completion, cacheRead, cacheWrite, cacheWriteHour, thinking, cost } = counts;
  const usage: InferenceUsage = {
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(completion !== undefined && { completion_tokens: completion }),
    ...(cacheRead && { cache_read_tokens: cacheRead }),
    ...(cacheWrite && { cache_creation_tokens: cacheWrite }),
    ...(cacheWriteHour && { cache_creation_1h_tokens: cacheWriteHour }),
    ...(thinking && { thinking_tokens: thinking }),
    ...(cost !== undefined && { reported_cost_usd: cost }),
  };
  if (Object.keys(usage).length > 0) answer.usage(usage);
};
