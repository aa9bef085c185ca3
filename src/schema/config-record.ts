import type { JsonObject } from './endpoint.ts';

/**
 * One entry of the configuration as it is stored (config.md 2.4, 8): what was written last, and beside it, while
 * the two differ, what runs use. A write that publishes leaves one truth; a restore changes the record and not
 * what is live, so the version that is live stays with the record until the next publication.
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
] as const;
export type ConfigNamespace = (typeof CONFIG_NAMESPACES)[number];

export type ConfigSource = { kind: 'user' } | { kind: 'builtin'; binary_version: string };

/** The part of a record that a run can tell apart. */
export type ConfigVersion = { spec: JsonObject; user_overrides?: JsonObject; hidden: boolean };

export type ConfigRecord = ConfigVersion & {
  namespace: ConfigNamespace;
  id: string;
  source: ConfigSource;
  /** milliseconds; 0 when unknown */
  created_at: number;
  updated_at: number;
  /** 1 for a new record, one more with every stored change */
  revision: number;
  /** who wrote it last (config.md 9.2) */
  actor: string;
  /** What runs use, there only while it is not this record; null when nothing of it is live. */
  published?: ConfigVersion | null;
};
