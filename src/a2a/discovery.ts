import { isDeepStrictEqual } from 'node:util';
import { isPublicAddress, type Resolve } from '../outbound/public-address.ts';
import { A2aServerSpec } from '../schema/a2a-server.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { Clock } from '../schema/clock.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import { createCardFetch } from './card.ts';
import { type ServerWatch, type Timers, watchServer } from './server-watch.ts';

/**
 * Discovers the agents of the configured servers (a2a.md 13.2).
 *
 * Guarantees: callers never wait for a server. Cards are fetched concurrently, independent of publications, and
 * `changed` is called once whenever agents were added, removed or changed.
 * Relies on a publication after `changed`, which may apply the same servers again.
 * Cost: a card in memory for each server.
 */
export type A2aDiscovery = {
  /** Ids of servers that are not entries. */
  own: readonly string[];
  /** Returns the discovered agents in the order of their servers. */
  discovered(): readonly AgentSpec[];
  apply(specs: readonly A2aServerSpec[]): void;
  close(): void;
};

type DiscoveryDeps = {
  clock: Clock;
  log: Pick<ServiceLog, 'warn'>;
  /** Must not throw. */
  changed(): void;
  /**
   * A server from the settings. The operator is trusted, so it may have any address. It is replaced by an entry
   * `remote`.
   */
  remote?: { base_url: string; token?: string | undefined } | undefined;
  resolve?: Resolve;
  mayConnect?: (address: string) => boolean;
  timers?: Timers;
};

const REMOTE = 'remote';
/** Unused as the id of an entry. */
const OWN = '';

const TIMERS: Timers = {
  setTimeout: (run, ms) => setTimeout(run, ms).unref(),
  // Receives only values that `setTimeout` above has returned.
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

/**
 * @example
 * const a2a = createA2aDiscovery({ clock, log, changed: () => void config.live.refresh() });
 * const config = await createConfigService({ ...deps, a2a });
 */
export const createA2aDiscovery = (deps: DiscoveryDeps): A2aDiscovery => {
  const { clock, log, changed, resolve, mayConnect = isPublicAddress, timers = TIMERS } = deps;
  const own = deps.remote && specOf(deps.remote);
  let watches = new Map<string, ServerWatch>();
  let agents: readonly AgentSpec[] = [];

  const update = (): void => {
    const now = [...watches.values()].flatMap((watch) => watch.agent() ?? []);
    if (isDeepStrictEqual(now, agents)) return;
    agents = now;
    warnOfSameNames(agents, log);
    changed();
  };

  const watch = (spec: A2aServerSpec): ServerWatch => {
    const may = spec === own ? () => true : mayConnect;
    const fetchCard = createCardFetch({ mayConnect: may, ...(resolve && { resolve }) });
    return watchServer(spec, { clock, timers, log, fetchCard, mayConnect: may, changed: update });
  };

  return {
    own: own ? [own.id] : [],
    discovered: () => agents,
    apply(specs) {
      const all = own && !specs.some(({ id }) => id === REMOTE) ? [...specs, own] : specs;
      const before = watches;
      watches = new Map();
      for (const spec of all) {
        // Separate keys, because the allowed addresses differ between the configured server and entries.
        const key = spec === own ? OWN : spec.id;
        const known = before.get(key);
        known?.apply(spec);
        watches.set(key, known ?? watch(spec));
      }
      for (const [key, gone] of before) if (!watches.has(key)) gone.close();
      update();
    },
    close() {
      for (const each of watches.values()) each.close();
      watches = new Map();
    },
  };
};

const specOf = ({ base_url, token }: NonNullable<DiscoveryDeps['remote']>): A2aServerSpec =>
  A2aServerSpec.parse({ id: REMOTE, base_url, ...(token && { auth: { type: 'bearer', token } }) });

/** The first agent keeps the plain name; the others are also named after their server. */
const warnOfSameNames = (agents: readonly AgentSpec[], log: DiscoveryDeps['log']): void => {
  const first = new Map<string, AgentSpec>();
  for (const agent of agents) {
    const other = first.get(agent.id);
    if (other)
      log.warn('a2a.duplicate_agent', { agent: agent.id, servers: [other.registry, agent.registry] });
    else first.set(agent.id, agent);
  }
};
