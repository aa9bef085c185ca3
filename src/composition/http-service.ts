import { setTimeout } from 'node:timers/promises';
import { createHttpService, type HttpService } from '../http/service.ts';
import { createIdempotency } from '../idempotency/index.ts';
import { createAuthObserver } from '../identity/auth-observer.ts';
import { createAuthenticator } from '../identity/authenticator.ts';
import type { JudgeToken } from '../identity/issuers/index.ts';
import { healthRoutes } from '../routes/health.ts';
import { createFrontEndUser } from '../routes/openai/front-end-user.ts';
import { assertReachable } from './boundary.ts';
import type { Foundation } from './foundation.ts';
import { authenticatorOptionsOf, httpOptionsOf } from './http-options.ts';
import { createIdentityProviders } from './issuers.ts';
import { createRequestLimits } from './request-limits.ts';
import type { Exposed, Protocols } from './surface.ts';

/** The HTTP service: everything that answers requests, for as long as a store is open. */
export type HttpPart = {
  readonly http: HttpService;
  /** @throws SettingsError when no request could be authenticated */
  assertReachable(): void;
  /**
   * Loads all routes other than those of health checks, for which requests wait. Together with their schemas they are
   * half of the code of the service, and nothing before the first request needs them.
   *
   * @param url the address of the service; empty if it does not listen
   */
  loadRoutes(url: string): Promise<Protocols>;
};

export const createHttpPart = (foundation: Foundation, exposed: Exposed): HttpPart => {
  const { settings, input, server, store, clock } = foundation;
  const { judgeAccessToken, signIn } = createIdentityProviders(foundation, exposed.identity);
  const http = createHttp(foundation, exposed, judgeAccessToken);
  return {
    http,
    assertReachable: () =>
      assertReachable(settings, {
        authenticate: input.authenticate,
        isOpen: server.boundary.isOpen,
        hasActiveKey: () => store.keys.hasActive(clock.now()),
      }),
    async loadRoutes(url) {
      const { createProtocols } = await loadSurface({ isListening: url !== '' });
      const protocols = createProtocols(foundation, { ...exposed, signIn }, url);
      http.complete(protocols.surface);
      return protocols;
    },
  };
};

/** Parts of the surface, of which each takes some 10 ms to load. */
const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import('../routes/control-plane.ts'),
  () => import('../routes/chat/runs.ts'),
  () => import('../routes/ag-ui/runs.ts'),
  () => import('../routes/eval-runs.ts'),
  () => import('../routes/eval-datasets.ts'),
  () => import('../routes/threads.ts'),
  () => import('../routes/users.ts'),
  () => import('../routes/table.ts'),
  () => import('../routes/a2a/adapter.ts'),
  () => import('../routes/openai/index.ts'),
  () => import('./surface.ts'),
];

/** Time for requests before each part. A client that retries until the port is open sends its request within it. */
const PAUSE_MS = 2;

/** Loads one part after the other, so that health checks are answered in between. */
const loadSurface = async ({
  isListening,
}: {
  isListening: boolean;
}): Promise<typeof import('./surface.ts')> => {
  const pause = async (): Promise<void> => {
    if (isListening) await setTimeout(PAUSE_MS);
  };
  for (const load of PARTS) {
    await pause();
    await load();
  }
  await pause();
  return import('./surface.ts');
};

const createHttp = (
  foundation: Foundation,
  { execution: { runtime }, identity }: Pick<Exposed, 'execution' | 'identity'>,
  judgeAccessToken: JudgeToken | undefined,
): HttpService => {
  const { settings, metrics, meter, clock, store, accessLog, membership } = foundation;
  return createHttpService({
    ...httpOptionsOf(foundation),
    routes: healthRoutes({
      check: store.check,
      isReady: runtime.isReady,
      membership,
      timeoutMs: settings.health_store_timeout_ms,
    }),
    isPartial: true,
    authenticate: createAuthenticator({
      ...authenticatorOptionsOf(foundation),
      judgeKey: identity.judge,
      judgeAccessToken,
      judgeSession: identity.judgeSession,
      judgeTicket: identity.tickets.judge,
      actFor: identity.actFor,
      frontEndUser: createFrontEndUser(settings.openai),
    }),
    observeAuth: createAuthObserver(metrics.identity.requested, accessLog),
    addReader: identity.readers.add,
    requestLimits: createRequestLimits(meter, () => clock.now()),
    idempotency: createIdempotency({
      store,
      clock,
      retentionMs: settings.idempotency.retention_secs * 1000,
      conversationHeaders: ['x-troupe-thread-id', ...settings.openai.chat_id_headers],
      count: metrics.idempotency.count,
    }),
  });
};
