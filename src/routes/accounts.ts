import type { MayUseAccount } from '../connections/account-rights.ts';
import type { Addresses } from '../connections/addresses.ts';
import type { Authorizations } from '../connections/authorizations.ts';
import type { Connections } from '../connections/types.ts';
import type { AccessObserver } from '../schema/access-event.ts';

/** The services behind the routes of connected accounts. */
export type Accounts = {
  connections: Pick<Connections, 'discover' | 'list' | 'revoke'>;
  authorizations: Authorizations;
  addresses(): Addresses;
  mayUse: MayUseAccount;
};

export type AccountRouteDeps = {
  accounts: Accounts;
  /** Returns whether CORS admits an origin. */
  isAllowedOrigin(origin: string): boolean;
  /** Records sign-ins and connected accounts in the access log. */
  accessObserver: AccessObserver;
};
