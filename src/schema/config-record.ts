import type { JsonObject } from './endpoint.ts';

/**
 * One stored entry of the configuration (config.md 2.4, 8): the last written version and, while they differ, the live
 * version. A write that publishes makes both equal; a restore changes the record and not the live version, which stays
 * with the record until the next publication.
 */

/** The namespaces of config.md 2.1, in their order. */
export const CONFIG_NAMESPACES = [
  'agents',
  'models',
  'model-pools',
  'providers',
  'mcp-servers',
  'skills',
  'tools',
  'a2a-servers',
  'budgets',
] as const;
export type ConfigNamespace = (typeof CONFIG_NAMESPACES)[number];

export type ConfigSource = { kind: 'user' } | { kind: 'builtin'; binary_version: string };

/** The part of a record that affects runs. */
export type ConfigVersion = { spec: JsonObject; user_overrides?: JsonObject; hidden: boolean };

export type ConfigRecord = ConfigVersion & {
  namespace: ConfigNamespace;
  id: string;
  source: ConfigSource;
  /** Milliseconds; 0 when unknown. */
  created_at: number;
  updated_at: number;
  /** 1 for a new record, incremented with every stored change. */
  revision: number;
  /** The author of the last write (config.md 9.2). */
  actor: string;
  /** Paths of secrets that the last write removed, because it did not bring them (config.md 4.3). */
  dropped_secrets?: readonly string[];
  /** The live version, present only while it differs from this record; null when the entry is not live. */
  published?: ConfigVersion | null;
};
