import type { Configuration } from '../configuration/control-plane/service.ts';
import { createIdentity, type Identity } from '../identity/index.ts';
import type { OwnedThreads } from '../identity/users/users.ts';
import type { Foundation } from './foundation.ts';

/** Creates the users and credentials of a service, whose changes are in the audit log of the configuration. */
export const openIdentity = (
  { store, clock, ids, log, settings }: Foundation,
  { audit }: Pick<Configuration, 'audit'>,
): Identity =>
  createIdentity({
    store,
    clock,
    ids,
    audit,
    threads: NO_OWNED_THREADS,
    settings: settings.identity,
    failed: (err) => log.warn('identity.use_not_written', { err }),
  });

/** Threads have no owners in this version. */
const NO_OWNED_THREADS: OwnedThreads = { any: () => false, async remove() {} };
