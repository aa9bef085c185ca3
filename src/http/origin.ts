import type { Principal } from '../schema/principal.ts';
import type { Scheme } from './listen-address.ts';

/**
 * The source of a request. A request from the network must authenticate and name an accepted host. A request of the
 * embedding program (`program`) acts for a principal that the program names. A request that the program forwards (`stranger`)
 * must authenticate, but the program is responsible for its host.
 *
 * Relies on sockets to set no `entry`: it is part of a request only after another member has proved that it accepted it.
 */
export type Origin =
  | { from: 'network'; entry?: Entry }
  | { from: 'stranger' }
  | { from: 'program'; principal: Principal };

/** Facts about the listener of another member, which accepted a request and forwarded it. */
export type Entry = {
  readonly scheme: Scheme;
  /** Whether only clients on the host of that member can connect. */
  readonly isLocalListener: boolean;
  /** Whether that member accepts the host that the request names. */
  readonly isHostAccepted: boolean;
};
