import type { Principal } from '../schema/principal.ts';

/**
 * The source of a request. A request from the network must authenticate and name an accepted host. A request of the
 * embedding program (`program`) acts for a principal that the program names. A request that the program forwards (`stranger`)
 * must authenticate, but the program is responsible for its host.
 */
export type Origin = { from: 'network' } | { from: 'stranger' } | { from: 'program'; principal: Principal };
