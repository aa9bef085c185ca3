/**
 * The source of a request. A request from the network must authenticate and name an accepted host. A request of the
 * embedding program (`program`) acts for a scope and has admin rights. A request that the program forwards (`stranger`)
 * must authenticate, but the program is responsible for its host.
 */
export type Origin = { from: 'network' } | { from: 'stranger' } | { from: 'program'; scope: string };
