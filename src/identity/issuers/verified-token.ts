import type { Grants } from '../../schema/grants.ts';

/** A valid access token, before a user is bound to it (identity.md 2.3). */
export type VerifiedToken = {
  /** The account at the identity provider. */
  readonly issuer: string;
  readonly subject: string;
  readonly scope: string;
  /** The id of the user that it names, in NFC. */
  readonly user: string;
  readonly name?: string | undefined;
  /** In lower case. */
  readonly email?: string | undefined;
  /** The authority that the claims give. */
  readonly grants: Grants;
  /** The grants that its OAuth scope names: a token that names any is limited to them. */
  readonly narrowing?: Grants | undefined;
  /** Seconds since the epoch, as in the token. */
  readonly iat: number;
  /** Seconds since the epoch: that of the token, or earlier by the maximum age of its issuer. */
  readonly exp: number;
  /** `known`: the token may bind to a user that exists, but creates none. */
  readonly provision?: 'auto' | 'known' | undefined;
};
