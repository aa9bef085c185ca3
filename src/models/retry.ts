import { setTimeout as wait } from 'node:timers/promises';
import { timerMs } from '../schema/timer.ts';
import type { ModelError } from './errors.ts';

/** How failures of a model are repeated: the section `retry` of an agent (agent-loop.md 9.3). */
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

/** Milliseconds before retry `n` (from 0); never sooner than the provider allows. */
export const backoffMs = (settings: RetrySettings, error: ModelError, n: number): number => {
  const { backoff_base_ms, overloaded_backoff_base_ms } = settings;
  const base = error.class === 'overloaded' ? overloaded_backoff_base_ms : backoff_base_ms;
  return Math.max(Math.min(base * 2 ** n, LONGEST_BACKOFF_MS), (error.retryAfterSeconds ?? 0) * 1000);
};

/** Returns when the time is over or the signal has fired. */
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

/** At least `ms`, and up to a quarter more, so that callers that failed together do not return together. */
export const spread = (ms: number, random: Random): number =>
  Math.round(ms * (1 + LARGEST_SPREAD * random()));

/** By the signal of their inference. */
const pausing = new WeakSet<AbortSignal>();

/** While this lasts, the inference of the signal calls no provider. */
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

/** Whether the inference of this signal waits for its next try, and does nothing else. */
export const isBetweenTries = (signal: AbortSignal): boolean => pausing.has(signal);
