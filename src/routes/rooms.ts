import type { CardServer, CardStatus } from '../a2a/card.ts';
import type { Assistant } from '../assistant/assistant.ts';
import type { Evals } from '../evals/index.ts';
import type { EventFeed } from '../events/feed.ts';
import type { Inspector } from '../inspection/inspector.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import type { McpManager } from '../mcp/index.ts';
import type { ProviderTest } from '../models/provider-test.ts';
import type { ReplayBuffers } from '../protocols/replay-buffer.ts';
import type { ConfigService } from '../registry/config/api.ts';
import type { Runtime } from '../runtime/index.ts';
import type { Ids } from '../schema/clock.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { Store } from '../store/index.ts';
import type { Log } from '../telemetry/log.ts';
import type { RuntimeStats } from '../telemetry/runtime-stats.ts';
import type { Traces } from '../traces/traces.ts';
import type { ProgramsRoom } from './programs.ts';

/** What the routes may call. */
export type Rooms = {
  store: Store;
  runtime: Runtime;
  /** Without it there are no event routes, and no durable replay. */
  events?: EventFeed;
  /** For what fails when no request is there any more to be told. */
  log: Log;
  /** The live streams of threads in the chat protocol. */
  chatStreams: ReplayBuffers;
  inspector: Inspector;
  /** Other programs that are watched here. */
  programs: ProgramsRoom;
  ids: Ids;
  /** As it is now; with a `resolution_id`, as it was then. @throws Invalid `agent not found: <id>` */
  resolve(agentId: string, resolution_id?: string): ResolvedAgent;
  /** Whether there is an agent of this id now. */
  isAgent(agentId: string): boolean;
  /** Publishes a draft of an agent for its own runs only. @throws Invalid */
  publishDraft(draft: unknown): Promise<ResolvedAgent>;
  /** Without it the routes of the configuration answer that it is not enabled. */
  config?: ConfigService;
  /** There with the configuration. */
  assistant?: Assistant;
  mcp: Pick<McpManager, 'status' | 'inventory' | 'restart' | 'acceptTools'>;
  readCard(server: CardServer): Promise<CardStatus>;
  /** @param stored spec of the provider, with its secrets */
  testProvider(stored: JsonObject): Promise<ProviderTest>;
  metrics: { render(): Promise<Uint8Array>; contentType: string };
  /** Without it the routes of statistics answer that they are not configured. */
  runtimeStats?: RuntimeStats;
  /** Without it there are no trace routes. */
  traces?: Traces;
  evals: Evals;
  system: {
    version: string;
    uptimeSeconds(): number;
    /** Names of the modules that are mounted, in the order of runtime.md 15.2. */
    modules: readonly string[];
  };
  settings: {
    health_store_timeout_ms: number;
    default_agent_id: string;
    local_backend_kind: string;
    event_capture_mode: 'compacted' | 'full_fidelity' | 'disabled';
    AdminApiConfig: {
      expose_config_routes: boolean;
      expose_eval_routes: boolean;
      expose_trace_routes: boolean;
    };
    audit_log: { enabled: boolean };
  };
};
