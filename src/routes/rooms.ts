import type { EventFeed } from '../events/feed.ts';
import type { Inspector } from '../inspection/inspector.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import type { Runtime } from '../runtime/index.ts';
import type { Ids } from '../schema/clock.ts';
import type { Store } from '../store/index.ts';

/** What the routes may call. */
export type Rooms = {
  store: Store;
  runtime: Runtime;
  /** Without it there are no event routes. */
  events?: EventFeed;
  inspector: Inspector;
  ids: Ids;
  /** @throws Invalid `agent not found: <id>` */
  resolve(agentId: string): ResolvedAgent;
  metrics: { render(): Promise<string>; contentType: string };
  system: {
    version: string;
    uptimeSeconds(): number;
    /** Names of the modules that are mounted, in the order of runtime.md 15.2. */
    modules: readonly string[];
  };
  settings: { health_store_timeout_ms: number; default_agent_id: string };
};
