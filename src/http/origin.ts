/**
 * Where a request comes from. What came over the network shows its rights and the host that it asks for. A program
 * that has the service inside itself speaks for a scope, as the admin too; a request that it hands on has to show its
 * rights, and what host it was for is the program's affair.
 */
export type Origin = { from: 'network' } | { from: 'stranger' } | { from: 'program'; scope: string };
