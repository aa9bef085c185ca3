import { setTimeout } from 'node:timers/promises';
import { createHostCheck } from '../http/hosts.ts';
import { hostOf, urlOf } from '../http/listen-address.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import type { TlsFiles } from '../http/tls.ts';
import { chooseHttpServer } from '../http/uws.ts';
import { createIdempotency } from '../idempotency/index.ts';
import { createAuthObserver } from '../identity/auth-observer.ts';
import { type AnonymousAccess, createAuthenticator } from '../identity/authenticator.ts';
import { createGuesses } from '../identity/guesses.ts';
import type { JudgeToken } from '../identity/issuers/index.ts';
import { ABOUT } from '../routes/about.ts';
import { healthRoutes } from '../routes/health.ts';
import { createFrontEndUser } from '../routes/openai/front-end-user.ts';
import { isLoopback } from '../schema/loopback.ts';
import { listenAddress } from '../settings/index.ts';
import { anonymousAccess, assertReachable, isOpen, reportBoundary } from './boundary.ts';
import type { Foundation } from './foundation.ts';
import { createInspectionPort, type InspectionPort } from './inspection-port.ts';
import { createIdentityProviders } from './issuers.ts';
import { createRequestLimits } from './request-limits.ts';
import type { Exposed, Protocols } from './surface.ts';
import { version } from './version.ts';

/** The parts that clients reach: the HTTP server with its routes, and the port for programs that report. */
export type Server = {
  readonly http: HttpServer;
  readonly inspection: InspectionPort;
  /** Returns the URL with the port that was bound. Rejects if an address cannot be bound. */
  listen(): Promise<string>;
  /**
   * Loads all routes other than those of health checks, for which requests wait. Together with their schemas they are
   * half of the code of the service, and nothing before the first request needs them.
   *
   * @param url the result of `listen`; empty if the service does not listen
   */
  loadRoutes(url: string): Promise<Protocols>;
};

export const createServer = (foundation: Foundation, exposed: Exposed): Server => {
  const { settings, log, metrics } = foundation;
  const inspection = createInspectionPort(foundation);
  const { judgeAccessToken, signIn } = createIdentityProviders(foundation, exposed.identity);
  const address = listenAddress(settings.http_addr);
  const host = hostOf(address);
  const tls = tlsFiles(settings);
  const scheme = tls ? 'https' : 'http';
  const isLocalListener = host === '' || isLoopback(host);
  const anonymous = anonymousAccess(settings, foundation.input);
  const boundary = { anonymous, isLocalListener, isOpen: isOpen(anonymous, isLocalListener) };
  const isOpenToAll = anonymous === 'always' && !isLocalListener;
  const http = createHttp(foundation, exposed, { host, tls, boundary, judgeAccessToken });
  return {
    http,
    inspection,
    async listen() {
      assertReachable(settings, {
        authenticate: foundation.input.authenticate,
        isOpen: boundary.isOpen,
        hasActiveKey: () => foundation.store.keys.hasActive(foundation.clock.now()),
      });
      const server = chooseHttpServer(settings.http_server, log);
      await inspection.listen(server);
      const { port } = await http.listen(server, address);
      if (!isLocalListener) {
        reportBoundary(settings, anonymous, log);
        if (isOpenToAll) metrics.http.openToAll();
      }
      return urlOf(scheme, address, port);
    },
    async loadRoutes(url) {
      const { createProtocols } = await loadSurface({ isListening: url !== '' });
      const reach = { host, url, isOpen: boundary.isOpen, isOpenToAll };
      const protocols = createProtocols(foundation, { ...exposed, signIn }, inspection, reach);
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

const tlsFiles = ({ tls: { cert_file, key_file } }: Foundation['settings']): TlsFiles | undefined =>
  cert_file !== undefined && key_file !== undefined ? { cert_file, key_file } : undefined;

const createHttp = (
  { input, settings, log, metrics, meter, clock, store, accessLog }: Foundation,
  { execution: { runtime }, identity }: Pick<Exposed, 'execution' | 'identity'>,
  {
    host,
    tls,
    boundary: { anonymous, isLocalListener, isOpen },
    judgeAccessToken,
  }: {
    host: string;
    tls: TlsFiles | undefined;
    boundary: { anonymous: AnonymousAccess; isLocalListener: boolean; isOpen: boolean };
    judgeAccessToken: JudgeToken | undefined;
  },
): HttpServer =>
  createHttpServer({
    routes: healthRoutes({ store, runtime, settings }),
    isPartial: true,
    settings: {
      ...settings,
      tls,
      cors_allowed_origins: settings.AdminApiConfig.cors_allowed_origins,
      cors_request_headers: [...settings.openai.chat_id_headers, ...settings.openai.user_headers],
    },
    acceptsHost: createHostCheck({
      listening: host,
      names: settings.allowed_hosts ?? [],
      publicUrls: [settings.a2a_public_base_url, settings.public_url],
    }),
    publicHost: settings.a2a_public_base_url && new URL(settings.a2a_public_base_url).host,
    publicUrl: settings.public_url,
    isLocalListener,
    authenticate: createAuthenticator({
      adminToken: settings.AdminApiConfig.bearer_token,
      scope_id: settings.scope_id,
      resolveScope: input.resolveScope,
      authenticate: input.authenticate,
      anonymous,
      judgeKey: identity.judge,
      judgeAccessToken,
      judgeSession: identity.judgeSession,
      judgeTicket: identity.tickets.judge,
      actFor: identity.actFor,
      frontEndUser: createFrontEndUser(settings.openai),
      guesses: createGuesses({
        token: settings.AdminApiConfig.bearer_token,
        observe: metrics.http.adminRefused,
        log,
      }),
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
    observe: metrics.http,
    log,
    openApi: { ...ABOUT, version, isOpen },
  });
