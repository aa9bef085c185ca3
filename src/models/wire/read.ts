import { isObject } from '../../schema/endpoint.ts';
import { parseExactly } from '../../schema/exact-integers.ts';
import type { JsonObject } from '../../schema/json.ts';
import type { InferenceUsage } from '../model.ts';
import type { AnswerWriter } from './wire.ts';

/** Reads of JSON of a provider: each returns what it was asked for, or undefined where something else is there. */

/** The data of an event as an object; undefined for everything that no format sends, which is ignored. */
export const objectIn = (data: string): JsonObject | undefined => {
  try {
    return objectOf(parseExactly(data));
  } catch {
    // Not JSON: a comment of a proxy, a ping in words. No format has such an event.
    return undefined;
  }
};

export const objectOf = (value: unknown): JsonObject | undefined =>
  isObject(value) ? (value as JsonObject) : undefined;

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A number of tokens, whatever else a provider may write in its place. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** `prompt` includes what was read from and written to the cache, `completion` includes `thinking`. */
export type Counts = {
  prompt?: number | undefined;
  completion?: number | undefined;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
  /** The part of `cacheWrite` that is kept for an hour. */
  cacheWriteHour?: number | undefined;
  thinking?: number | undefined;
  /** What the provider charges, in USD. */
  cost?: number | undefined;
};

/** Details that a provider does not report and details of 0 are both left out. */
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
