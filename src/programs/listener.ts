import type { ConnectionBudget } from '../http/connection-budget.ts';
import { createHostCheck } from '../http/hosts.ts';
import type { HttpServerChoice } from '../http/uws.ts';
import { isLoopback } from '../schema/loopback.ts';
import type { Place } from './admission.ts';
import { listenOnUws } from './listen-uws.ts';
import type { Programs } from './programs.ts';

/**
 * The address that other programs report to: a WebSocket on a separate port, on loopback addresses only.
 *
 * It is a port and not a path of the service, because the service may listen to a whole network, and behind a proxy
 * every client has a loopback address. On this port the operating system excludes other hosts, no route of the service
 * is reachable, and reports do not use up the limits of its requests. A browser on this host runs pages of any
 * site, so the origin and the `Host` header must also be of this host (DNS rebinding).
 */

export type Listener = {
  /** `ws://host:port` */
  readonly url: string;
  close(): void;
};

/** @throws Unavailable when the address is not available */
export const listenForPrograms = async (
  { uWS }: HttpServerChoice,
  { programs, budget }: { programs: Programs; budget: ConnectionBudget },
  address: { host: string; port: number },
): Promise<Listener> => {
  const { host } = address;
  // A loopback address has a host check; the alternative only satisfies the type.
  const acceptsHost = createHostCheck({ listening: host, names: [], publicUrls: [] }) ?? isLoopback;
  const place: Place = { programs, acceptsHost };
  const listening = uWS
    ? await listenOnUws(uWS, place, budget, address)
    : await (await import('./listen-node.ts')).listenOnNode(place, budget, address);
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `ws://${name}:${listening.port}`, close: listening.close };
};
