import { isDeepStrictEqual } from 'node:util';
import { A2aServerSpec } from '../schema/a2a-server.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { Clock } from '../schema/clock.ts';
import { createCardFetch } from './card.ts';
import { isPublicAddress, type Resolve } from './public-address.ts';
import { type ServerWatch, type Timers, watchServer } from './server-watch.ts';

/**
 * The agents of the servers in the configuration (a2a.md 13.2).
 *
 * Guarantees: nobody waits for a server. Cards are fetched behind the back of a publication, all at once, and
 * `changed` is called when agents have come, gone or become others, once for each time.
 * Relies on a publication after `changed`, which may apply the same servers again.
 * Costs a card in memory for each server.
 */
export type A2aDiscovery = {
  /** ids of servers that are no entries. */
  own: readonly string[];
  /** In the order of their servers. */
  discovered(): readonly AgentSpec[];
  apply(specs: readonly A2aServerSpec[]): void;
  close(): void;
};

type DiscoveryDeps = {
  clock: Clock;
  log: { warn(data: object, text: string): void };
  /** Must not throw. */
  changed(): void;
  /** Named by the operator, who knows where it is: it may have any address. An entry `remote` goes over it. */
  remote?: { base_url: string; token?: string | undefined } | undefined;
  resolve?: Resolve;
  mayConnect?: (address: string) => boolean;
  timers?: Timers;
};

const REMOTE = 'remote';
/** No entry has this id. */
const OWN = '';

const TIMERS: Timers = {
  setTimeout: (run, ms) => setTimeout(run, ms).unref(),
  // Only what the line above has returned is given back.
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

  const looked = (): void => {
    const now = [...watches.values()].flatMap((watch) => watch.agent() ?? []);
    if (isDeepStrictEqual(now, agents)) return;
    agents = now;
    warnOfSameNames(agents, log);
    changed();
  };

  const watch = (spec: A2aServerSpec): ServerWatch => {
    const may = spec === own ? () => true : mayConnect;
    const fetchCard = createCardFetch({ mayConnect: may, ...(resolve && { resolve }) });
    return watchServer(spec, { clock, timers, log, fetchCard, mayConnect: may, looked });
  };

  return {
    own: own ? [own.id] : [],
    discovered: () => agents,
    apply(specs) {
      const all = own && !specs.some(({ id }) => id === REMOTE) ? [...specs, own] : specs;
      const before = watches;
      watches = new Map();
      for (const spec of all) {
        // What may be connected to is not the same for both, so that neither becomes the other.
        const key = spec === own ? OWN : spec.id;
        const known = before.get(key);
        known?.apply(spec);
        watches.set(key, known ?? watch(spec));
      }
      for (const [key, gone] of before) if (!watches.has(key)) gone.close();
      looked();
    },
    close() {
      for (const each of watches.values()) each.close();
      watches = new Map();
    },
  };
};

const specOf = ({ base_url, token }: NonNullable<DiscoveryDeps['remote']>): A2aServerSpec =>
  A2aServerSpec.parse({ id: REMOTE, base_url, ...(token && { auth: { type: 'bearer', token } }) });

/** The first one has the plain name; the others go by the name of their server too. */
const warnOfSameNames = (agents: readonly AgentSpec[], log: DiscoveryDeps['log']): void => {
  const first = new Map<string, AgentSpec>();
  for (const agent of agents) {
    const other = first.get(agent.id);
    if (other)
      log.warn(
        { agent: agent.id, servers: [other.registry, agent.registry] },
        'two A2A servers show one agent',
      );
    else first.set(agent.id, agent);
  }
};
