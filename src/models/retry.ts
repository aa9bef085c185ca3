import { setTimeout as wait } from 'node:timers/promises';
import { timerMs } from '../schema/timer.ts';
import type { ModelError } from './errors.ts';

/** Retries of model failures: the `retry` section of an agent (agent-loop.md 9.3). */
export type RetrySettings = {
  max_retries: number;
  backoff_base_ms: number;
  overloaded_backoff_base_ms: number;
  max_stream_retries: number;
  stream_idle_timeout_secs: number;
};

export const DEFAULT_RETRY: RetrySettings = {
  max_retries: 2,
  backoff_base_ms: 500,
  overloaded_backoff_base_ms: 2000,
  max_stream_retries: 2,
  stream_idle_timeout_secs: 60,
};

const LONGEST_BACKOFF_MS = 8000;

/** Milliseconds before retry `n` (from 0); never shorter than the provider's `Retry-After`. */
export const backoffMs = (settings: RetrySettings, error: ModelError, n: number): number => {
  const { backoff_base_ms, overloaded_backoff_base_ms } = settings;
  const base = error.class === 'overloaded' ? overloaded_backoff_base_ms : backoff_base_ms;
  return Math.max(Math.min(base * 2 ** n, LONGEST_BACKOFF_MS), (error.retryAfterSeconds ?? 0) * 1000);
};

/** Resolves when the time has passed or the signal is aborted. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

export const pause: Pause = async (ms, signal) => {
  const over = wait(timerMs(ms), undefined, { signal });
  await betweenTries(signal, over).catch((error) => {
    if (!signal.aborted) throw error;
  });
};

/** Random numbers from 0 to 1. */
export type Random = () => number;

const LARGEST_SPREAD = 0.25;

/** Adds up to a quarter to `ms`, so that callers that failed together do not retry together. */
export const spread = (ms: number, random: Random): number =>
  Math.round(ms * (1 + LARGEST_SPREAD * random()));

/** The signals of inferences that are waiting. */
const pausing = new WeakSet<AbortSignal>();

/** Marks the inference of the signal as waiting; it calls no provider in the meantime. */
export const betweenTries = async <Result>(
  signal: AbortSignal,
  waiting: Promise<Result>,
): Promise<Result> => {
  pausing.add(signal);
  try {
    return await waiting;
  } finally {
    pausing.delete(signal);
  }
};

/** Whether the inference of this signal only waits for its next attempt. */
export const isBetweenTries = (signal: AbortSignal): boolean => pausing.has(signal);
