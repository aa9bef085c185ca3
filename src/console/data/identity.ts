import { Identity, mayUse, type Needs } from './principal.ts';
import { type Loaded, queryClient, type Resource, useResource } from './queries.ts';
import { sendUnchecked, setRefusal } from './request.ts';

/** The identity that the service reports for the requests of this console. */

const PATH = '/v1/identity';

const EVERY_MS = 60_000;

/** A rejected credential is reported by the requests of the screen, so this one asks for no other. */
export const identity: Resource<Identity> = {
  path: PATH,
  guard: Identity,
  every: EVERY_MS,
  read: (signal) => sendUnchecked({ path: PATH, signal, quiet: true }),
};

export const useIdentity = (): Loaded<Identity> => useResource(identity);

/** @example const may = useMay(); may(['observe']) */
export const useMay = (): ((needs: Needs) => boolean) => {
  const who = useIdentity().data;
  return (needs) => mayUse(who, needs);
};

/** Whether the principal may start and continue runs, and change threads. */
export const useMayInvoke = (): boolean => useMay()(['invoke']);

/** The grants that routes need to be read, by the beginning of their path. */
const READERS: readonly (readonly [begin: RegExp, needs: Needs])[] = [
  [/^\/v1\/runs\/[^/]+\/inferences\//, ['observe']],
  [/^\/v1\/(capabilities|config|system|agents|audit-log|traces)(\/|$)/, ['observe']],
  [/^\/v1\/runs\/summary$/, ['observe', 'read:all']],
  [/^\/v1\/(runs|threads|files)(\/|$)/, ['read']],
  [/^\/v1\/eval\//, ['evaluate']],
];

/**
 * Refuses reads that the service would refuse. Several parts of the console read what only operators may read, and would
 * otherwise fill the access log and the log of the browser for all other users.
 */
export const watchIdentity = (): void =>
  setRefusal((path) => {
    const who = identityIn(queryClient.getQueryData([PATH, {}]));
    const found = READERS.find(([begin, needs]) => begin.test(path) && !mayUse(who, needs));
    return found?.[1]?.[0];
  });

/** Undefined until the service has reported it. */
const identityIn = (cached: unknown): Identity | undefined => {
  try {
    return Identity(cached, '');
  } catch {
    return undefined;
  }
};
