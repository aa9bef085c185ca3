import type { CardServer, CardStatus } from '../a2a/card.ts';
import type { Assistant } from '../assistant/assistant.ts';
import type { UsagePage, UsageReport } from '../budgets/usage-report.ts';
import type { ConfigService } from '../configuration/control-plane/api.ts';
import type { Evals } from '../evals/index.ts';
import type { EventFeed } from '../events/feed.ts';
import type { Access } from '../identity/access/access.ts';
import type { WholeScope } from '../identity/access/whole-scope.ts';
import type { AccessLog } from '../identity/access-log/log.ts';
import type { Identity } from '../identity/index.ts';
import type { SignIn } from '../identity/sign-in/sign-in.ts';
import type { Inspector } from '../inspection/inspector.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import type { McpManager } from '../mcp/index.ts';
import type { ProviderPreview } from '../models/provider-preview.ts';
import type { ProviderTest } from '../models/provider-test.ts';
import type { Log } from '../observability/log.ts';
import type { RuntimeStats } from '../observability/statistics/runtime-stats.ts';
import type { Traces } from '../observability/traces/traces.ts';
import type { ReplayBuffers } from '../protocols/replay-buffer.ts';
import type { Runtime } from '../runtime/index.ts';
import type { AgentAddress } from '../schema/agent-address.ts';
import type { BudgetUsage } from '../schema/budget.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { Membership } from '../schema/membership.ts';
import type { ProviderSpec } from '../schema/model.ts';
import type { Store } from '../store/index.ts';
import type { Tool } from '../tools/tool.ts';
import type { AccountRouteDeps } from './accounts.ts';
import type { ProgramsDeps } from './programs.ts';

/** The dependencies of the routes. */
export type RouteDeps = AccountRouteDeps & {
  store: Store;
  /** Finds threads, runs and tasks for a principal. */
  access: Access;
  /** Finds threads and runs of every owner, for the admin surface. */
  wholeScope: WholeScope;
  runtime: Runtime;
  /** If absent, the service has no event routes and no durable replay. */
  events?: EventFeed;
  /** Logs failures that occur after the response. */
  log: Log;
  /** The live chat streams of threads. */
  chatStreams: ReplayBuffers;
  inspector: Inspector;
  /** Absent in embedded mode. */
  membership: Membership | undefined;
  /** External programs that report to this service. */
  programs: ProgramsDeps;
  ids: Ids;
  clock: Clock;
  /**
   * Resolves the current version of an agent, or with a `resolution_id` the version of that time. @throws Invalid
   * `agent not found: <id>`
   */
  resolve(agentId: string, resolution_id?: string): ResolvedAgent;
  /**
   * Resolves a published version or the draft of an agent. @throws Invalid `agent not found: <id>@<version>`
   */
  resolveAddress(address: AgentAddress): Promise<ResolvedAgent>;
  /** Returns a tool of the service, of an MCP server, or of a plugin as an agent without settings has it. */
  findTool(id: string): Tool | undefined;
  /** Returns whether an agent with this id exists now. */
  isAgent(agentId: string): boolean;
  /** Publishes a draft of an agent for its own runs only. @throws Invalid */
  publishDraft(draft: unknown): Promise<ResolvedAgent>;
  identity: Identity;
  signIn: SignIn;
  accessLog: AccessLog;
  /** If absent, the configuration routes report that the API is not enabled. */
  config?: ConfigService;
  /** Present together with `config`. */
  assistant?: Assistant;
  /** Returns the fullest counters of a budget; undefined if there is no such budget. */
  budgetUsage(id: string, limit: number): BudgetUsage | undefined;
  /** Sums what runs have used. @throws Invalid if there are too many sums */
  usage(report: UsageReport): Promise<UsagePage>;
  mcp: Pick<McpManager, 'status' | 'inventory' | 'restart' | 'acceptTools'>;
  readCard(server: CardServer): Promise<CardStatus>;
  /** @param stored the spec of the provider, including its secrets */
  testProvider(stored: JsonObject): Promise<ProviderTest>;
  previewProvider(spec: ProviderSpec): Promise<ProviderPreview>;
  metrics: { render(): Promise<Uint8Array>; contentType: string };
  /** If absent, the statistics routes report that statistics are not configured. */
  runtimeStats?: RuntimeStats;
  /** If absent, the service has no trace routes. */
  traces?: Traces;
  evals: Evals;
  system: {
    version: string;
    /** The address that was bound; empty if the service does not listen. */
    url: string;
    uptimeSeconds(): number;
    /** Whether requests without a credential are accepted from other hosts. */
    isOpenToAll: boolean;
    /** Names of the mounted modules, in the order of runtime.md 15.2. */
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
