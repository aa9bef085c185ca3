import { quick } from './bounds.ts';
import { createCounter, createDurations, createGauge, type Families } from './families.ts';

/** Metrics of the HTTP server. */

export const createHttpMetrics = (families: Families) => {
  const requests = createDurations(
    families,
    ['method', 'route', 'status'],
    { suffix: 'http_request_duration_seconds', help: 'Time to the head of a response', bounds: quick },
    { suffix: 'http_requests_total', help: 'Ended HTTP requests' },
  );
  const inFlight = createGauge(families, {
    suffix: 'http_requests_in_flight',
    help: 'HTTP requests in progress',
  });
  const streams = createGauge(families, { suffix: 'sse_connections', help: 'Open event streams' });
  const refused = createCounter(families, ['outcome'], {
    suffix: 'admin_auth_failures_total',
    help: 'Rejected credentials on admin routes; `limited`: not checked, because too many came from one address',
  });
  const anonymous = createGauge(families, {
    suffix: 'anonymous_access',
    help: '1 if requests from other hosts are accepted without a credential',
  });
  const received = createGauge(families, {
    suffix: 'http_request_buffer_bytes',
    help: 'Bytes of incomplete long request bodies',
  });
  const unsent = createGauge(families, {
    suffix: 'http_response_buffer_bytes',
    help: 'Unsent bytes of long responses',
  });
  return {
    /** Records an ended request; `route` is its template or `unmatched`, `seconds` the time to its response head. */
    request(method: string, route: string, status: number, seconds: number) {
      requests.observe(seconds, method, route, status);
    },
    inFlight(delta: number) {
      inFlight.inc(delta);
    },
    stream(delta: number) {
      streams.inc(delta);
    },
    /** Records that requests from other hosts are accepted without a credential. */
    openToAll() {
      anonymous.inc(1);
    },
    adminRefused(outcome: 'refused' | 'limited') {
      refused.add(1, outcome);
    },
    received(bytes: number) {
      received.inc(bytes);
    },
    unsent(bytes: number) {
      unsent.inc(bytes);
    },
  };
};
