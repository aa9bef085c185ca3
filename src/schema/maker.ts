/**
 * The user and credential that made something which outlives its request, such as a push notification config
 * (identity.md 1.5). It is stored with the thing, and judged again whenever that acts.
 */
export type Maker = {
  readonly scope: string;
  readonly user: string;
  /** Creation time of the user: a later user with the same id is another one. */
  readonly since: number;
  /** The key that made it, with the user of the key; absent for other credentials. */
  readonly key?: { readonly line: string; readonly user: string };
  /** The grants that limit the user, one list for each limit; those of a key are read when it is judged. */
  readonly limits: readonly (readonly string[])[];
};
