import { isPreflight } from '../http/cors.ts';
import { methodLabel } from '../http/router.ts';
import { createHttpService, type HttpService } from '../http/service.ts';
import type { WireRequest } from '../http/wire.ts';
import { createAuthObserver } from '../identity/auth-observer.ts';
import { createAuthenticator } from '../identity/authenticator.ts';
import { healthRoutes } from '../routes/health.ts';
import { listMembers } from '../routes/members.ts';
import { metricsRoute } from '../routes/metrics.ts';
import type { Membership } from '../schema/membership.ts';
import { Unauthorized, Unavailable } from '../schema/outcome.ts';
import { authenticatorOptionsOf, httpOptionsOf } from './http-options.ts';
import { metricsText } from './metrics-text.ts';
import { createPages } from './pages.ts';
import type { Process } from './process.ts';

/**
 * The requests that a member answers itself while it does not have the data (cluster.md 1.3): health checks, metrics and
 * preflights, and while no member is known that has it, also the list of members, the console and the manual. Keys and
 * sessions are stored with the data, so only the admin token is known.
 *
 * @param hasActive whether requests can be sent to a member that has the data
 */
export const createStandby = (
  ofProcess: Process,
  membership: Membership,
  hasActive: () => boolean,
): Standby => {
  const { metrics, settings } = ofProcess;
  const own = [
    ...healthRoutes({
      check: () => Promise.resolve(),
      isReady: () => true,
      membership,
      timeoutMs: settings.health_store_timeout_ms,
    }),
    metricsRoute(metricsText(metrics)),
  ];
  const list = listMembers(membership.members);
  const pages = createPages(ofProcess);
  const refuse = (): never => {
    if (hasActive()) throw new Unauthorized('this member is on standby, where only the admin token is known');
    throw new Unavailable('no active member is known, and only the admin token can be checked without it');
  };
  const http = createHttpService({
    ...httpOptionsOf(ofProcess),
    routes: [...own, list],
    unrouted: pages,
    authenticate: createAuthenticator({
      ...authenticatorOptionsOf(ofProcess),
      judgeKey: refuse,
      judgeSession: refuse,
      judgeTicket: refuse,
      judgeAccessToken: Object.assign(() => refuse(), { known: () => undefined }),
      actFor: (judged, named) => (named === undefined ? judged : refuse()),
    }),
    observeAuth: createAuthObserver(metrics.identity.requested, { record() {}, adminUsed() {} }),
  });
  const paths: ReadonlySet<string> = new Set(own.map(({ path }) => path));
  return {
    answer: http.answer,
    close: http.close,
    answers(req) {
      const path = req.getUrl();
      const method = methodLabel(req);
      const header = (name: string): string | undefined => req.getHeader(name) || undefined;
      if (paths.has(path) || isPreflight(method, { get: header })) return true;
      if (hasActive()) return false;
      if (path === list.path) return hasRead(membership);
      return pages.some((page) => page.answer({ method, path, header }) !== undefined);
    },
  };
};

/** Before it has read the members, it lists none. */
const hasRead = (membership: Membership): boolean => membership.members().members.some(({ self }) => self);

export type Standby = Pick<HttpService, 'answer' | 'close'> & {
  /** Returns whether a request is answered here. */
  answers(req: WireRequest): boolean;
};
