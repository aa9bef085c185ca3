import { createCardReader } from '../a2a/card.ts';
import { reportUsage } from '../budgets/usage-report.ts';
import { createStoredProviderTest } from '../configuration/control-plane/provider-test.ts';
import type { Configuration } from '../configuration/control-plane/service.ts';
import { createResolver } from '../files/references.ts';
import { createOriginCheck } from '../http/cors.ts';
import type { Family } from '../http/family.ts';
import { createHostCheck } from '../http/hosts.ts';
import { hostOf, urlOf } from '../http/listen-address.ts';
import type { Route } from '../http/route.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import type { TlsFiles } from '../http/tls.ts';
import { chooseHttpServer } from '../http/uws.ts';
import { createIdempotency } from '../idempotency/index.ts';
import { createAccess } from '../identity/access/access.ts';
import { createWholeScope } from '../identity/access/whole-scope.ts';
import { createAuthObserver } from '../identity/auth-observer.ts';
import { type AnonymousAccess, createAuthenticator } from '../identity/authenticator.ts';
import { createGuesses } from '../identity/guesses.ts';
import type { Identity } from '../identity/index.ts';
import type { JudgeToken } from '../identity/issuers/index.ts';
import { createProviderPreview } from '../models/provider-preview.ts';
import { createSharedRendering } from '../observability/metrics/shared-rendering.ts';
import { type A2aAdapter, createA2aAdapter } from '../routes/a2a/adapter.ts';
import { ABOUT } from '../routes/about.ts';
import { createConsole } from '../routes/console.ts';
import { createManual } from '../routes/manual.ts';
import { createMcpAdapter, type McpAdapter } from '../routes/mcp/adapter.ts';
import { fileRoutes } from '../routes/openai/files.ts';
import { createFrontEndUser, createOpenAiFamilies } from '../routes/openai/index.ts';
import type { RouteDeps } from '../routes/route-deps.ts';
import { createRouteTable } from '../routes/table.ts';
import { fileUrl } from '../schema/file-url.ts';
import { compileGlob } from '../schema/glob.ts';
import { isLoopback } from '../schema/loopback.ts';
import { listenAddress } from '../settings/index.ts';
import type { AuthorizationService } from './authorizations.ts';
import { anonymousAccess, assertReachable, isOpen, reportBoundary } from './boundary.ts';
import type { Execution } from './execution.ts';
import { createFileLink } from './files.ts';
import type { Foundation } from './foundation.ts';
import { createInspectionPort, type InspectionPort } from './inspection-port.ts';
import { createIdentityProviders, type IdentityProviders } from './issuers.ts';
import type { Peers } from './peers.ts';
import { createRequestLimits } from './request-limits.ts';
import { consoleFolder, manualFolder, version } from './version.ts';

/** The parts that clients reach: the HTTP server with its routes, and the port for programs that report. */
export type Server = {
  readonly http: HttpServer;
  readonly a2a: A2aAdapter;
  readonly mcp: McpAdapter;
  readonly inspection: InspectionPort;
  /** Returns the URL with the port that was bound. Rejects if an address cannot be bound. */
  listen(): Promise<string>;
};

/** The parts that the routes expose. */
type Exposed = {
  peers: Peers;
  config: Configuration;
  execution: Execution;
  identity: Identity;
  accounts: AuthorizationService;
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
  const routeDeps = createRouteDeps(foundation, { ...exposed, signIn }, inspection, isOpenToAll);
  const { files } = foundation;
  let bound = '';
  /** A service that does not listen has no link. */
  const linkTo = (id: string): string => {
    const link = files.links.link(id);
    if (!link.startsWith('/')) return link;
    return bound === '' ? fileUrl(id) : bound + link;
  };
  const { a2a, mcp } = createAdapters(foundation, exposed, routeDeps, {
    host,
    isOpen: boundary.isOpen,
    linkTo,
  });
  const families = [
    ...a2a.families,
    ...mcp.families,
    ...(settings.files.enabled ? [fileRoutes({ files, access: routeDeps.access })] : []),
    ...openAiFamilies(foundation, exposed, routeDeps),
  ];
  const routes = [...createRouteTable(routeDeps), ...mcp.routes];
  const http = createHttp(foundation, routeDeps, { families, routes, host, tls, boundary, judgeAccessToken });
  return {
    http,
    a2a,
    mcp,
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
      bound = urlOf(scheme, address, port);
      return bound;
    },
  };
};

const tlsFiles = ({ tls: { cert_file, key_file } }: Foundation['settings']): TlsFiles | undefined =>
  cert_file !== undefined && key_file !== undefined ? { cert_file, key_file } : undefined;

const createRouteDeps = (
  {
    input,
    settings,
    log,
    clock,
    ids,
    metrics,
    store,
    meter,
    accessLog,
    accessObserver,
    transport,
    inspector,
    programs,
    uptimeSeconds,
  }: Foundation,
  { peers, config, execution, identity, accounts, signIn }: Exposed & Pick<IdentityProviders, 'signIn'>,
  inspection: InspectionPort,
  isOpenToAll: boolean,
): RouteDeps => {
  const { events, observability, evals, assistant, runtime, chatStreams } = execution;
  const { traces, stats: runtimeStats } = observability;
  return {
    store,
    access: createAccess(store),
    wholeScope: createWholeScope(store),
    runtime,
    ...(events && { events }),
    chatStreams,
    log,
    inspector,
    programs: { programs, url: inspection.url },
    ids,
    clock,
    resolve: config.live.resolve,
    findTool: config.live.tool,
    isAgent: (id) => config.live.agents().ids.includes(id),
    publishDraft: config.live.publishDraft,
    identity,
    accounts,
    isAllowedOrigin: createOriginCheck(settings.AdminApiConfig.cors_allowed_origins),
    signIn,
    accessLog,
    accessObserver,
    config: config.service,
    assistant,
    metrics: {
      render: createSharedRendering(metrics.render, RENDER_MS),
      contentType: metrics.contentType,
    },
    ...(runtimeStats && { runtimeStats }),
    ...(traces && { traces }),
    evals,
    budgetUsage: meter.usage,
    usage: (report) => reportUsage(store.usage, report),
    mcp: peers.mcp,
    readCard: createCardReader({ clock }),
    testProvider: createStoredProviderTest({ clock, env: input.env ?? {}, transport }),
    previewProvider: createProviderPreview({ clock, env: input.env ?? {}, transport }),
    settings,
    system: {
      version,
      uptimeSeconds,
      isOpenToAll,
      modules: [
        'run',
        'admin',
        'protocol',
        ...(settings.AdminApiConfig.expose_config_routes ? ['config'] : []),
        ...(events ? ['events'] : []),
        ...(settings.AdminApiConfig.expose_eval_routes ? ['eval'] : []),
        ...(traces && settings.AdminApiConfig.expose_trace_routes ? ['trace'] : []),
      ],
    },
  };
};

const openAiFamilies = (
  { settings, metrics, files }: Pick<Foundation, 'settings' | 'metrics' | 'files'>,
  { config: { live }, execution }: Pick<Exposed, 'config' | 'execution'>,
  routeDeps: RouteDeps,
): readonly Family[] =>
  settings.openai.enabled
    ? createOpenAiFamilies({
        ...routeDeps,
        settings,
        published: live.agents,
        observe: metrics.openAi,
        heldRuns: execution.heldRuns,
        legs: execution.openAiLegs,
        acceptFiles: createResolver(files.get),
        fileLink: createFileLink(files, settings),
        globs: settings.openai.agents.map(compileGlob),
      })
    : [];

/** Creates the servers of other protocols, which publications and the metrics refer to. */
const createAdapters = (
  { settings, log, clock, metrics, store, breakers, meter, actors, uptimeSeconds }: Foundation,
  { peers, config: { live }, execution: { tasks, runtime } }: Exposed,
  routeDeps: RouteDeps,
  { host, isOpen, linkTo }: { host: string; isOpen: boolean; linkTo: (file_id: string) => string },
): { a2a: A2aAdapter; mcp: McpAdapter } => {
  const common = { ...routeDeps, clock, settings, version, host, isOpen, log, actors };
  const a2a = createA2aAdapter({
    ...common,
    makers: routeDeps.identity.makers,
    tasks,
    published: live.agents,
  });
  const { add: addReader } = routeDeps.identity.readers;
  const mcp = createMcpAdapter({ ...common, agents: live.agents, uptimeSeconds, addReader, linkTo });
  live.watch(mcp.published);
  live.watch(() => breakers.keep(live.models().models.map(({ id }) => id)));
  metrics.read({
    store: store.stats,
    breakers: breakers.states,
    work: runtime.work,
    sessions: mcp.sessions,
    signedIn: routeDeps.identity.sessions.count,
    budgets: meter.spentShares,
    files: store.files.totals,
    mcpServers: peers.mcp.states,
  });
  return { a2a, mcp };
};

const createHttp = (
  { input, settings, log, metrics, meter, clock, accessLog }: Foundation,
  routeDeps: RouteDeps,
  {
    families,
    routes,
    host,
    tls,
    boundary: { anonymous, isLocalListener, isOpen },
    judgeAccessToken,
  }: {
    families: readonly Family[];
    routes: Route[];
    host: string;
    tls: TlsFiles | undefined;
    boundary: { anonymous: AnonymousAccess; isLocalListener: boolean; isOpen: boolean };
    judgeAccessToken: JudgeToken | undefined;
  },
): HttpServer =>
  createHttpServer({
    families,
    routes,
    settings: {
      ...settings,
      tls,
      cors_allowed_origins: settings.AdminApiConfig.cors_allowed_origins,
      cors_request_headers: [...settings.openai.chat_id_headers, ...settings.openai.user_headers],
    },
    unrouted: [
      createManual(input.manualFolder ?? manualFolder),
      ...(settings.console.enabled
        ? [createConsole({ folder: input.consoleFolder ?? consoleFolder, settings: settings.console })]
        : []),
    ],
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
      judgeKey: routeDeps.identity.judge,
      judgeAccessToken,
      judgeSession: routeDeps.identity.judgeSession,
      judgeTicket: routeDeps.identity.tickets.judge,
      actFor: routeDeps.identity.actFor,
      frontEndUser: createFrontEndUser(settings.openai),
      guesses: createGuesses({
        token: settings.AdminApiConfig.bearer_token,
        observe: metrics.http.adminRefused,
        log,
      }),
    }),
    observeAuth: createAuthObserver(metrics.identity.requested, accessLog),
    addReader: routeDeps.identity.readers.add,
    requestLimits: createRequestLimits(meter, () => clock.now()),
    idempotency: createIdempotency({
      store: routeDeps.store,
      clock,
      retentionMs: settings.idempotency.retention_secs * 1000,
      conversationHeaders: ['x-troupe-thread-id', ...settings.openai.chat_id_headers],
      count: metrics.idempotency.count,
    }),
    observe: metrics.http,
    log,
    openApi: { ...ABOUT, version, isOpen },
  });

/**
 * Renderings are shared for this long: one takes tens of milliseconds with many agents, and any client may request it.
 */
const RENDER_MS = 1000;
