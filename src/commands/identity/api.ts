import type { ApiKey, CreatedKey, NewKey } from '../../schema/api-key.ts';
import type { User, UserChange } from '../../schema/user.ts';
import type { Connection } from '../admin-client.ts';

/** The keys and users of a running service, or with `--offline` those of the data directory of a stopped one. */

export type IdentityService = {
  createKey(key: NewKey): Promise<CreatedKey>;
  keys(): Promise<ApiKey[]>;
  rotateKey(id: string, grace_secs: number): Promise<CreatedKey>;
  /** @throws Error for `cancelRuns` if the service is stopped */
  revokeKey(id: string, how: { cancelRuns: boolean }): Promise<void>;
  users(): Promise<User[]>;
  user(id: string): Promise<User>;
  changeUser(id: string, change: UserChange): Promise<User>;
  /** The threads without an owner. */
  readonly ownerless: OwnerlessThreads;
  close(): Promise<void>;
};

/** Threads without an owner and without a parent, and how they get an owner (identity.md 1.3). */
export type OwnerlessThreads = {
  /** Returns those that name a resource. */
  withResource(): Promise<{ id: string; resource_id: string }[]>;
  /** Gives a thread to a user, with all threads below it. @throws Conflict */
  give(id: string, user: string): Promise<void>;
};

export type ServiceOptions = Connection & { offline?: boolean; ofScope?: string } & Record<string, unknown>;
