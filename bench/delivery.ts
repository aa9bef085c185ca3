import { createHistogram } from 'node:perf_hooks';
import type { OnEvents, Sample } from '../src/load-generator/index.ts';

/**
 * Lateness of paced tokens. The script emits token `n` at its start plus `n` times the pace and does not drift, but its
 * start is unknown here: the least delayed token of a stream replaces it. A delay shared by all tokens of a stream is
 * therefore not visible; it would appear in the time to first token.
 */

export type Delivery = {
  onEvents: OnEvents;
  onSample(sample: Sample): void;
  /** Milliseconds behind the pace. */
  lateness(rank: number): number;
  /** Milliseconds between two consecutive arrivals of a stream. */
  gap(rank: number): number;
  readonly tokens: number;
};

export type DeliveryOptions = {
  pace_ms: number;
  tokens: number;
  /** Frames before the first token. */
  leading: number;
  /** Start of the window of counted arrivals (`performance.now()`). */
  from: number;
  until: number;
};

const HOUR_IN_MICROSECONDS = 3_600_000_000;

const histogram = () => createHistogram({ highest: HOUR_IN_MICROSECONDS, figures: 3 });

/** Histograms of Node accept values from 1 on. */
const micro = (ms: number): number => Math.min(HOUR_IN_MICROSECONDS, Math.max(1, Math.round(ms * 1000)));

export const createDelivery = (options: DeliveryOptions): Delivery => {
  const { pace_ms, tokens, leading, from, until } = options;
  const open = new Map<number, { seen: number; arrivals: Float64Array }>();
  const late = histogram();
  const gaps = histogram();

  const close = (arrivals: Float64Array, count: number): void => {
    let start = Number.POSITIVE_INFINITY;
    for (let token = 0; token < count; token += 1) {
      start = Math.min(start, (arrivals[token] ?? 0) - token * pace_ms);
    }
    for (let token = 0; token < count; token += 1) {
      const at = arrivals[token] ?? 0;
      if (at < from || at > until) continue;
      late.record(micro(at - token * pace_ms - start));
      if (token > 0) gaps.record(micro(at - (arrivals[token - 1] ?? 0)));
    }
  };

  return {
    onEvents(stream, events, at) {
      let state = open.get(stream);
      if (!state) {
        state = { seen: 0, arrivals: new Float64Array(tokens) };
        open.set(stream, state);
      }
      for (let count = 0; count < events; count += 1) {
        const token = state.seen - leading;
        if (token >= 0 && token < tokens) state.arrivals[token] = at;
        state.seen += 1;
      }
    },
    onSample({ stream }) {
      const state = open.get(stream);
      open.delete(stream);
      if (state) close(state.arrivals, Math.min(tokens, state.seen - leading));
    },
    lateness: (rank) => late.percentile(rank) / 1000,
    gap: (rank) => gaps.percentile(rank) / 1000,
    get tokens() {
      return late.count;
    },
  };
};
