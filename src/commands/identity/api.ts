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
  close(): Promise<void>;
};

export type ServiceOptions = Connection & { offline?: boolean; ofScope?: string } & Record<string, unknown>;
