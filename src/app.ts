import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { AnyActorRef } from 'xstate';
import { createCardReader } from './a2a/card.ts';
import { createA2aDiscovery } from './a2a/discovery.ts';
import { createRemoteAgents } from './a2a/remote/agents.ts';
import { configurationOf } from './app-configuration.ts';
import type { AppInput } from './app-input.ts';
import { createMcpToolStore } from './app-mcp-tools.ts';
import { createAssistant } from './assistant/assistant.ts';
import { createEvals } from './evals/index.ts';
import { createEventFeed } from './events/feed.ts';
import { createConnectionBudget } from './http/connection-budget.ts';
import { createHostCheck } from './http/hosts.ts';
import { hostOf, urlOf } from './http/listen-address.ts';
import { createHttpServer } from './http/server.ts';
import { chooseHttpServer } from './http/uws.ts';
import { createIds } from './ids.ts';
import { createInspector } from './inspection/inspector.ts';
import { nameOf, type WorksFor } from './inspection/name.ts';
import { createMcpManager } from './mcp/index.ts';
import { createBreakers } from './models/breakers.ts';
import { createTransport } from './models/transport.ts';
import { startObservability } from './observability.ts';
import { LIMITS } from './programs/limits.ts';
import { type Listener, listenForPrograms } from './programs/listener.ts';
import { createPrograms } from './programs/programs.ts';
import { createTasks } from './protocols/a2a/tasks.ts';
import { createReplayBuffers } from './protocols/replay-buffer.ts';
import { createStoredProviderTest } from './registry/config/provider-test.ts';
import { type UsedModel, usedModel } from './registry/config/used-model.ts';
import { createA2aAdapter } from './routes/a2a/adapter.ts';
import { ABOUT } from './routes/about.ts';
import { createResumedChat } from './routes/chat/resumed.ts';
import { createConsole } from './routes/console.ts';
import { createMcpAdapter } from './routes/mcp/adapter.ts';
import type { Rooms } from './routes/rooms.ts';
import { routesOf } from './routes/table.ts';
import { createRuntime } from './runtime/index.ts';
import type { PendingEdits } from './runtime/pending-edits.ts';
import { type Clock, type Ids, monotonic } from './schema/clock.ts';
import { inTime } from './schema/in-time.ts';
import { assertStartable, listenAddress, type Settings, tcpAddress } from './settings.ts';
import { openStores } from './stores.ts';
import { createLog } from './telemetry/log.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { createObserver } from './telemetry/observer.ts';
import { createSharedRendering } from './telemetry/shared-rendering.ts';
import type { SubAgents } from './tools/sub-agent.ts';
import { consoleFolder, version } from './version.ts';

/** The composition root: every room is made here, and nowhere else does one room learn of another's insides. */

export type App = {
  /** `http://host:port`, with the port that was really taken; empty when it does not listen. */
  readonly url: string;
  /** Answers a request as over a socket, without one: it has to show its rights, whatever host it names. */
  fetch(request: Request): Promise<Response>;
  /** The same for the program itself: in this scope, with the rights of an admin. */
  fetchAs(scope: string, request: Request): Promise<Response>;
  /**
   * Copies the data folder as it is now into an empty folder, while runs execute. The copy does not contain
   * `secrets.key`.
   * @throws Unavailable
   */
  backup(folder: string): Promise<void>;
  /** Ids of the agents that are published now. */
  agents(): readonly string[];
  /** Where inferences of the default agent are sent. */
  model(): UsedModel | undefined;
  /** Messages that wait to join a history: to look at, add, change, order and remove them. */
  readonly pending: PendingEdits;
  /**
   * Serves agents as tools of MCP over a pair of pipes, such as those of this process: one message a line, as the
   * stdio transport of MCP has it. Resolves when the input has ended and all that it asked for is answered.
   *
   * @example
   * await troupe.serveMcp({ input: process.stdin, output: process.stdout });
   */
  serveMcp(pipes: { input: Readable; output: Writable }): Promise<void>;
  /**
   * Stops accepting, waits for running runs up to the setting, then lets them go. `waiting` is told for how many, now
   * and whenever there are fewer.
   */
  stop(waiting?: (runs: number) => void): Promise<void>;
};

/** @throws SettingsError, Invalid (a record), or what the store says of its folder */
export const startApp = async (input: AppInput): Promise<App> => {
  const { settings } = input;
  // Without a token admin routes refuse everybody; who listens to nobody need not choose one for the program itself.
  if (input.listen !== false) assertStartable(settings);
  const log = input.log ?? createLog({ level: settings.log_level });
  const clock: Clock = input.clock ?? { now: Date.now, monotonic: () => performance.now() };
  const ids: Ids = input.ids ?? createIds();
  const metrics = createMetrics({ prefix: settings.metrics_prefix, version });
  const startedAt = monotonic(clock);
  const breakers = createBreakers(clock, { threshold: settings.models.breaker_failures });
  const transport = createTransport({
    keepAliveSeconds: settings.models.keep_alive_secs,
    connections: settings.models.connections_per_origin,
    env: input.env ?? {},
  });

  const subAgents: SubAgents = {
    start: (request) => runtime.subAgents.start(request),
    proceed: (request) => runtime.subAgents.proceed(request),
    end: (...child) => runtime.subAgents.end(...child),
  };
  const stores = await openStores(settings, (problem) => log.warn(problem));
  const { store } = stores;
  const inspector = createInspector({ clock });
  const programs = createPrograms(clock);
  let inspection: Listener | undefined;
  const actors = {
    began: (actor: AnyActorRef, scope: string, of?: WorksFor) =>
      inspector.began(actor, nameOf(actor, scope, of)),
  };
  // A card or a tool may come before there is a configuration to publish it in.
  let publishAgents = async (): Promise<void> => {};
  const changed = (): void => {
    publishAgents().catch((err) => log.warn({ err }, 'what other servers offer is not published yet'));
  };
  const a2aServers = createA2aDiscovery({ clock, log, changed, remote: remoteOf(settings) });
  const mcpTools = createMcpToolStore({ store, log });
  const mcpServers = createMcpManager({
    clock,
    log,
    version,
    refreshMs: settings.mcp_refresh_interval_secs * 1000,
    actors,
    scope: settings.scope_id,
    observe: metrics.mcpServers,
    records: mcpTools,
    changed,
  });
  const closePeers = async (): Promise<void> => {
    a2aServers.close();
    await Promise.all([mcpServers.close(), transport.close()]);
  };
  const config = await configurationOf(input, {
    store,
    clock,
    ids,
    log,
    metrics,
    subAgents,
    remoteAgents: createRemoteAgents({ log, actors }),
    a2a: a2aServers,
    mcp: mcpServers,
    breakers,
    transport,
    assistant: () => assistant.capabilities(),
  }).catch(async (error) => {
    await closePeers();
    await stores.close();
    throw error;
  });
  mcpTools.open(config.service.audit);
  publishAgents = config.live.refresh;
  if (a2aServers.discovered().length > 0) changed();
  const { resolve } = config.live;
  const events = input.eventLog === false ? undefined : createEventFeed({ store, log });
  const observability = await startObservability(input, { stores, clock, log, metrics, resolve });
  const { traces, stats: runtimeStats } = observability;
  const tasks = createTasks({ store, actors, log });
  const chatStreams = createReplayBuffers({
    capacity: settings.replay_buffer_capacity,
    idleMs: settings.replay_buffer_idle_secs * 1000,
    clock,
  });
  const runtime = createRuntime({
    store,
    events,
    traces: observability.runs,
    runs: tasks.runWatch,
    resumed: createResumedChat({
      store,
      chatStreams,
      clock,
      hasLog: events !== undefined && settings.event_capture_mode !== 'disabled',
    }),
    actors,
    clock,
    ids,
    settings,
    observe: observability.observe,
    log,
    resolve,
    worker: `troupe-${randomUUID()}`,
  });
  const evals = createEvals({
    store,
    clock,
    ids,
    run: (input) => runtime.ephemeral(input),
    live: config.live,
    traces,
    spans: observability.replaySpans,
    // Replays are no work of the agents.
    observe: createObserver({ metrics, stats: undefined }),
    events,
    actors,
    settings: {
      limits: settings.eval_limits,
      // Of what they leave out of arguments and results, a trace does not tell that it is gone.
      hasWholeToolIo: settings.trace.tool_io_fields === undefined && input.redactTraces === undefined,
    },
    log,
  });
  const assistant = createAssistant({
    config: config.service,
    store,
    runtime,
    live: config.live.models,
    log,
  });
  const sweep = setInterval(() => chatStreams.sweep(monotonic(clock)), SWEEP_MS).unref();
  const rooms: Rooms = {
    store,
    runtime,
    ...(events && { events }),
    chatStreams,
    log,
    inspector,
    programs: { programs, url: () => inspection?.url ?? null },
    ids,
    resolve,
    isAgent: (id) => config.live.agents().ids.includes(id),
    publishDraft: config.live.publishDraft,
    config: config.service,
    assistant,
    metrics: {
      render: createSharedRendering(metrics.render, RENDER_MS),
      contentType: metrics.contentType,
    },
    ...(runtimeStats && { runtimeStats }),
    ...(traces && { traces }),
    evals,
    mcp: mcpServers,
    readCard: createCardReader({ clock }),
    testProvider: createStoredProviderTest({ clock, env: input.env ?? {}, transport }),
    settings,
    system: {
      version,
      uptimeSeconds: () => Math.floor((monotonic(clock) - startedAt) / 1000),
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
  const address = listenAddress(settings.http_addr);
  const host = hostOf(address);
  const a2a = createA2aAdapter({
    ...rooms,
    clock,
    tasks,
    published: config.live.agents,
    settings,
    version,
    host,
    log,
    actors,
  });
  const mcp = createMcpAdapter({
    ...rooms,
    clock,
    agents: config.live.agents,
    uptimeSeconds: rooms.system.uptimeSeconds,
    version,
    host,
    settings,
    actors,
  });
  config.live.watch(mcp.published);
  config.live.watch(() => breakers.keep(config.live.models().models.map(({ id }) => id)));
  metrics.read({
    store: store.stats,
    breakers: breakers.states,
    work: runtime.work,
    sessions: mcp.sessions,
    mcpServers: mcpServers.states,
  });
  const http = createHttpServer({
    families: [...a2a.families, ...mcp.families],
    routes: routesOf(rooms),
    settings: { ...settings, cors_allowed_origins: settings.AdminApiConfig.cors_allowed_origins },
    unrouted: settings.console.enabled
      ? createConsole({ folder: input.consoleFolder ?? consoleFolder, settings: settings.console })
      : undefined,
    acceptsHost: createHostCheck({
      listening: host,
      names: settings.allowed_hosts ?? [],
      publicUrl: settings.a2a_public_base_url,
    }),
    publicHost: settings.a2a_public_base_url && new URL(settings.a2a_public_base_url).host,
    adminToken: settings.AdminApiConfig.bearer_token,
    resolveScope: input.resolveScope ?? (() => settings.scope_id),
    observe: metrics.http,
    log,
    openApi: { ...ABOUT, version },
  });

  const listen = async (): Promise<{ port: number | undefined }> => {
    const { inspection_addr } = settings;
    const server = chooseHttpServer(settings.http_server, log);
    if (inspection_addr !== undefined) {
      const budget = createConnectionBudget(LIMITS.connections, (most) =>
        log.warn({ most }, 'new connections of programs that report are closed: too many are open'),
      );
      inspection = await listenForPrograms(server, { programs, budget }, tcpAddress(inspection_addr));
    }
    return http.listen(server, address);
  };
  /** Waits for running runs so long, in milliseconds, then lets everything go. */
  const end = async (patience: number, waiting: (runs: number) => void = () => {}): Promise<void> => {
    http.stopListening();
    inspection?.close();
    clearInterval(sweep);
    await evals.runs.stop();
    await runtime.stop(patience, waiting);
    // What they write must be stored before the store closes. A request that hangs holds up no stop.
    await inTime(http.answered(), LAST_REQUESTS_MS);
    a2a.stop();
    mcp.stop();
    await closePeers();
    // One iteration of the event loop: the responses to requests that were held reach their sockets.
    await new Promise((resolve) => setImmediate(resolve));
    await http.close();
    config.close();
    await observability.stop();
    await stores.close();
  };
  const listens = input.listen ?? true;
  const bound = await (listens ? listen() : undefined)?.catch(async (error) => {
    await end(0);
    throw error;
  });
  observability.start();
  // Not before: a start that fails must not have claimed, called or sent anything.
  if (settings.mailbox.lifecycle === 'auto')
    runtime.recover().catch((err) => log.error({ err }, 'the work of an earlier process is not taken up'));
  if (settings.mailbox.lifecycle === 'auto') evals.runs.recover();
  a2a.start();

  const url = bound ? urlOf(address, bound.port) : '';
  const model = (): UsedModel | undefined => usedModel(config.live, settings.default_agent_id);
  log.info({ url, version, node: process.version, storage_dir: settings.storage_dir, ...model() }, 'started');
  if (inspection) log.info({ url: inspection.url }, 'programs of this machine may report what they do');

  return {
    url,
    fetch: (request) => http.fetch(request, { from: 'stranger' }),
    fetchAs: (scope, request) => http.fetch(request, { from: 'program', scope }),
    backup: store.backup,
    agents: () => config.live.agents().ids,
    model,
    pending: runtime.pending,
    serveMcp: mcp.serve,
    async stop(waiting) {
      await end(settings.shutdown_timeout_ms, (runs) => {
        log.info({ runs }, 'stopping: waiting for runs');
        waiting?.(runs);
      });
      log.info('stopped');
    },
  };
};

const remoteOf = ({ a2a_remote_url: base_url, a2a_remote_bearer_token: token }: Settings) =>
  base_url === undefined ? undefined : { base_url, token };

/** Rendering takes tens of milliseconds where there are many agents, and any client may ask. */
const RENDER_MS = 1000;

/** Streams that nobody has closed are looked for so often. */
const SWEEP_MS = 30_000;

/** How long a stop waits for requests that it found under way. */
const LAST_REQUESTS_MS = 5_000;
