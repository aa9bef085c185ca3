import type { ConfigNamespace, ConfigRecord, ConfigSource } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';

/** Creates the next version of a record (config.md 2.4), which keeps its creation time and increments its revision. */

export type Writing = {
  namespace: ConfigNamespace;
  id: string;
  spec: JsonObject;
  source: ConfigSource;
  user_overrides?: JsonObject;
  dropped_secrets?: ReadonlySet<string>;
  now: number;
  actor: string;
};

export const nextRecord = (
  before: Pick<ConfigRecord, 'created_at' | 'revision'> | undefined,
  { user_overrides, dropped_secrets, now, ...writing }: Writing,
): ConfigRecord => ({
  ...writing,
  ...(user_overrides && Object.keys(user_overrides).length > 0 && { user_overrides }),
  ...(dropped_secrets && dropped_secrets.size > 0 && { dropped_secrets: [...dropped_secrets].sort() }),
  hidden: false,
  created_at: before?.created_at ?? now,
  updated_at: now,
  revision: (before?.revision ?? 0) + 1,
});

export const USER: ConfigSource = { kind: 'user' };
