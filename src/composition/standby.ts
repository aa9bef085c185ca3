import { createHttpService, type HttpService } from '../http/service.ts';
import { createAuthObserver } from '../identity/auth-observer.ts';
import { createAuthenticator } from '../identity/authenticator.ts';
import { healthRoutes } from '../routes/health.ts';
import { metricsRoute } from '../routes/metrics.ts';
import type { Membership } from '../schema/membership.ts';
import { Unauthorized } from '../schema/outcome.ts';
import { authenticatorOptionsOf, httpOptionsOf } from './http-options.ts';
import { metricsText } from './metrics-text.ts';
import type { Process } from './process.ts';

/**
 * The requests that a member answers itself while it does not have the data (cluster.md 1.3): health checks and metrics.
 * Keys and sessions are stored with the data, so only the admin token is known.
 */
export const createStandby = (ofProcess: Process, membership: Membership): Standby => {
  const { metrics, settings } = ofProcess;
  const routes = [
    ...healthRoutes({
      check: () => Promise.resolve(),
      isReady: () => true,
      membership,
      timeoutMs: settings.health_store_timeout_ms,
    }),
    metricsRoute(metricsText(metrics)),
  ];
  const http = createHttpService({
    ...httpOptionsOf(ofProcess),
    routes,
    authenticate: createAuthenticator({
      ...authenticatorOptionsOf(ofProcess),
      judgeKey: refuse,
      judgeSession: refuse,
      judgeTicket: refuse,
      actFor: (judged, named) => (named === undefined ? judged : refuse()),
    }),
    observeAuth: createAuthObserver(metrics.identity.requested, { record() {}, adminUsed() {} }),
  });
  const paths: ReadonlySet<string> = new Set(routes.map(({ path }) => path));
  return { answer: http.answer, close: http.close, answers: (path) => paths.has(path) };
};

export type Standby = Pick<HttpService, 'answer' | 'close'> & {
  /** Returns whether requests for a path are answered here. */
  answers(path: string): boolean;
};

const refuse = (): never => {
  throw new Unauthorized('this member is on standby, where only the admin token is known');
};
