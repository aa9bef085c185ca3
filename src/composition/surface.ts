import { createCardReader } from '../a2a/card.ts';
import { reportUsage } from '../budgets/usage-report.ts';
import { createStoredProviderTest } from '../configuration/control-plane/provider-test.ts';
import type { Configuration } from '../configuration/control-plane/service.ts';
import type { Evals } from '../evals/index.ts';
import { createResolver } from '../files/references.ts';
import { createOriginCheck } from '../http/cors.ts';
import type { Family } from '../http/family.ts';
import type { Surface } from '../http/routing.ts';
import { createAccess } from '../identity/access/access.ts';
import { createWholeScope } from '../identity/access/whole-scope.ts';
import type { Identity } from '../identity/index.ts';
import { createProviderPreview } from '../models/provider-preview.ts';
import { type A2aAdapter, createA2aAdapter } from '../routes/a2a/adapter.ts';
import { createMcpAdapter, type McpAdapter } from '../routes/mcp/adapter.ts';
import { fileRoutes } from '../routes/openai/files.ts';
import { createOpenAiFamilies } from '../routes/openai/index.ts';
import type { RouteDeps } from '../routes/route-deps.ts';
import { createRouteTable } from '../routes/table.ts';
import { fileUrl } from '../schema/file-url.ts';
import { compileGlob } from '../schema/glob.ts';
import type { AuthorizationService } from './authorizations.ts';
import { createEvaluations } from './evaluations.ts';
import type { Execution } from './execution.ts';
import type { Foundation } from './foundation.ts';
import type { IdentityProviders } from './issuers.ts';
import { metricsText } from './metrics-text.ts';
import { createPages } from './pages.ts';
import type { Peers } from './peers.ts';
import { version } from './version.ts';

/** The parts that the routes expose. */
export type Exposed = {
  peers: Peers;
  config: Configuration;
  execution: Execution;
  identity: Identity;
  accounts: AuthorizationService;
};

/** The routes of the service and of the protocols that it serves. Their code is loaded once the service listens. */
export type Protocols = {
  readonly surface: Surface;
  readonly a2a: A2aAdapter;
  readonly mcp: McpAdapter;
  readonly evals: Evals;
  /** Ends the readings of the metrics. */
  stopReadings(): void;
};

/** @param url the address that was bound; empty for a service that does not listen */
export const createProtocols = (
  foundation: Foundation,
  exposed: Exposed & Pick<IdentityProviders, 'signIn'>,
  url: string,
): Protocols => {
  const { settings, files } = foundation;
  const evals = createEvaluations(foundation, exposed.config, exposed.execution);
  const routeDeps = createRouteDeps(foundation, { ...exposed, evals }, url);
  const { a2a, mcp, stopReadings } = createAdapters(foundation, exposed, routeDeps, url);
  return {
    surface: {
      routes: [...createRouteTable(routeDeps), ...mcp.routes],
      families: [
        ...a2a.families,
        ...mcp.families,
        ...(settings.files.enabled ? [fileRoutes({ files, access: routeDeps.access })] : []),
        ...openAiFamilies(foundation, exposed, routeDeps),
      ],
      unrouted: createPages(foundation),
    },
    a2a,
    mcp,
    evals,
    stopReadings,
  };
};

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
    membership,
    server: { inspection, boundary },
  }: Foundation,
  {
    peers,
    config,
    execution,
    identity,
    accounts,
    signIn,
    evals,
  }: Exposed & Pick<IdentityProviders, 'signIn'> & { evals: Evals },
  url: string,
): RouteDeps => {
  const { events, observability, assistant, runtime, chatStreams } = execution;
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
    membership,
    programs: { programs, url: inspection.url },
    ids,
    clock,
    resolve: config.live.resolve,
    resolveAddress: config.live.resolveAddress,
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
    metrics: metricsText(metrics),
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
      url,
      uptimeSeconds,
      isOpenToAll: boundary.isOpenToAll,
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
        fileLink: files.links.link,
        globs: settings.openai.agents.map(compileGlob),
      })
    : [];

/** Creates the servers of other protocols, which publications and the metrics refer to. */
const createAdapters = (
  {
    settings,
    log,
    clock,
    metrics,
    store,
    breakers,
    meter,
    actors,
    uptimeSeconds,
    files,
    server: {
      boundary: { host, isOpen },
    },
  }: Foundation,
  { peers, config: { live }, execution: { tasks, runtime } }: Exposed,
  routeDeps: RouteDeps,
  url: string,
): Pick<Protocols, 'a2a' | 'mcp' | 'stopReadings'> => {
  const common = { ...routeDeps, clock, settings, version, host, isOpen, log, actors };
  const a2a = createA2aAdapter({
    ...common,
    makers: routeDeps.identity.makers,
    tasks,
    published: live.agents,
  });
  const { add: addReader } = routeDeps.identity.readers;
  /** Clients of MCP resolve no relative links. */
  const linkTo = (id: string): string => {
    const link = files.links.link(id);
    if (!link.startsWith('/')) return link;
    return url === '' ? fileUrl(id) : url + link;
  };
  const mcp = createMcpAdapter({ ...common, agents: live.agents, uptimeSeconds, addReader, linkTo });
  live.watch(mcp.published);
  live.watch(() => breakers.keep(live.models().models.map(({ id }) => id)));
  const stopReadings = metrics.read({
    store: store.stats,
    breakers: breakers.states,
    work: runtime.work,
    sessions: mcp.sessions,
    signedIn: routeDeps.identity.sessions.count,
    budgets: meter.spentShares,
    files: store.files.totals,
    mcpServers: peers.mcp.states,
  });
  return { a2a, mcp, stopReadings };
};
