import type { MayUseAccount } from '../connections/account-rights.ts';
import { type Addresses, createAddresses } from '../connections/addresses.ts';
import { type Authorizations, createAuthorizations } from '../connections/authorizations.ts';
import { endOfOffer } from '../connections/try.ts';
import type { AwaitAuthorization } from '../mcp/token-source.ts';
import type { Runtime } from '../runtime/index.ts';
import { AUTH_REQUIRED } from '../schema/authorization.ts';
import { Outcome } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import { authorizationTicket } from '../tools/tickets.ts';
import { ToolError } from '../tools/tool.ts';
import type { UserConnections } from './connections.ts';
import type { Foundation } from './foundation.ts';

/**
 * Suspends calls whose users have no connection, and resumes them once they are connected (identity.md 6.2).
 *
 * Guarantees: a call is resumed also if its account is connected while its wait is being stored: either the wait is
 * stored before the waiting runs are searched, or its record is reported afterwards and finds the account connected.
 */
export type AuthorizationService = {
  readonly authorizations: Authorizations;
  readonly connections: UserConnections;
  readonly addresses: () => Addresses;
  readonly mayUse: MayUseAccount;
  /** A record of a run has become durable. */
  stored(scope: string, run: Run): void;
  /** Called with the address of the service once it is bound. */
  bound(url: string): void;
  recover(): void;
  stop(): void;
};

/** @param runtime called once calls are resumed */
export const createAuthorizationService = (
  { store, clock, ids, log, metrics, settings }: Foundation,
  connections: UserConnections,
  runtime: () => Pick<Runtime, 'resumeAuthorized' | 'resumeCallsOf'>,
): AuthorizationService => {
  let origin = settings.public_url === undefined ? undefined : new URL(settings.public_url).origin;
  const addresses = (): Addresses => createAddresses(origin ?? UNBOUND);
  const report = (err: unknown): void => log.error('authorization.work_failed', { err });
  const authorizations = createAuthorizations({
    store,
    connections,
    clock,
    ids,
    addresses,
    observe: metrics.mcpServers.authorized,
    connected: (account, server) => {
      runtime()
        .resumeAuthorized(
          (call) =>
            call.wait.server === server &&
            call.account.scope === account.scope &&
            call.account.user === account.user,
        )
        .catch(report);
    },
  });
  const isConnected = ({ wait }: { wait: { authorization: string } }): boolean =>
    authorizations.find(wait.authorization)?.state === 'connected';
  const wait: AwaitAuthorization = async ({ server, scopes }, { context, account }) => {
    const { scope, user } = account;
    const offered = await authorizations.offer({ scope, user }, server, scopes).catch(asToolError);
    return {
      suspend: authorizationTicket(context.call_id, {
        server,
        scopes: offered.scopes,
        authorization: offered.id,
        url: addresses().start(offered.id),
        expires_at: endOfOffer(offered),
      }),
    };
  };
  connections.bind({ wait });
  const sweep = setInterval(() => authorizations.sweep().catch(report), SWEEP_MS).unref();
  return {
    authorizations,
    addresses,
    connections,
    mayUse: connections.mayUse,
    stored(scope, run) {
      if (!run.waiting?.tickets?.some(({ reason }) => reason === AUTH_REQUIRED)) return;
      runtime().resumeCallsOf(scope, run, isConnected).catch(report);
    },
    bound(url) {
      if (url !== '') origin ??= new URL(url).origin;
    },
    recover() {
      authorizations
        .recover()
        .then(() => runtime().resumeAuthorized(isConnected))
        .catch(report);
    },
    stop: () => clearInterval(sweep),
  };
};

/** @throws ToolError */
const asToolError = (error: unknown): never => {
  if (error instanceof Outcome) throw new ToolError('execution_failed', error.message, { cause: error });
  throw error;
};

/** An app that does not listen has no address: its program forwards requests of this origin. */
const UNBOUND = 'http://localhost';

/** Interval at which old authorizations are removed. */
const SWEEP_MS = 600_000;
