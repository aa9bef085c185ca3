import type { Configuration } from '../configuration/control-plane/service.ts';
import { createOwnedThreads } from '../identity/access/owned-threads.ts';
import { createIdentity, type Identity } from '../identity/index.ts';
import type { AuthorizationService } from './authorizations.ts';
import type { Execution } from './execution.ts';
import type { Foundation } from './foundation.ts';

/** Creates the users and credentials of a service, whose changes are in the audit log of the configuration. */
export const openIdentity = (
  { store, clock, ids, log, settings }: Foundation,
  { audit }: Pick<Configuration, 'audit'>,
  { runtime }: Pick<Execution, 'runtime'>,
  { authorizations, connections }: Pick<AuthorizationService, 'authorizations' | 'connections'>,
): Identity => {
  const identity = createIdentity({
    store,
    clock,
    ids,
    audit,
    threads: createOwnedThreads(store, (scope, id) => runtime.threads.remove(scope, id, 'detach')),
    accounts: {
      async removeAll(account) {
        await authorizations.removeAll(account);
        await connections.removeAll(account);
      },
    },
    settings: settings.identity,
    adminToken: settings.AdminApiConfig.bearer_token,
    failed: (err) => log.warn('identity.use_not_written', { err }),
  });
  runtime.threads.onTransfer(({ scope, threads }) => (moved) => {
    if (moved) for (const id of threads) identity.readers.threadMoved({ scope, id });
  });
  return identity;
};
