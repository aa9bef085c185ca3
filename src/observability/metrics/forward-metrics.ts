import { quick } from './bounds.ts';
import { createCounter, createDurations, createGauge, type Families } from './families.ts';

/** Metrics of requests that a member of a cluster forwards to the active member. */
export const createForwardMetrics = (families: Families) => {
  const attempts = createCounter(families, ['result'], {
    suffix: 'cluster_forwarded_total',
    help: 'Attempts to forward a request; `misdirected`: refused untouched, `unreachable`: no connection, `unknown`: no response',
  });
  const heads = createDurations(families, [], {
    suffix: 'cluster_forward_seconds',
    help: 'Time to the head of the response to a forwarded request',
    bounds: quick,
  });
  const streams = createGauge(families, {
    suffix: 'cluster_forwarded_streams',
    help: 'Open event streams that are forwarded',
  });
  return {
    /** Records an attempt; `seconds` is the time to the head of the response, if one arrived. */
    forwarded(result: 'ok' | 'misdirected' | 'unreachable' | 'unknown', seconds?: number) {
      attempts.add(1, result);
      if (seconds !== undefined) heads.observe(seconds);
    },
    stream(delta: 1 | -1) {
      streams.inc(delta);
    },
  };
};
