import type { ConfigNamespace } from './config-record.ts';
import type { JsonObject } from './endpoint.ts';

/**
 * One published state of the configuration (config.md 7): the versions of all its resources. Both are immutable, so the
 * configuration with which a run was started can be loaded again by its number.
 */

export type ResourceKind = 'agent' | 'model' | 'model_pool' | 'provider' | 'tool' | 'skill';

export type ResourceRef = { kind: ResourceKind; id: string; version: number };

export type ResourceVersion = ResourceRef & {
  /** Hash of the canonical JSON of the value, `sha256:` and hex. */
  hash: string;
  /** Only previews have published it so far. */
  preview?: true;
  /** First publication that is not a preview; absent for versions that an earlier release stored. */
  published_at_ms?: number;
  published_by?: string;
  value: JsonObject;
};

export type SourceRevision = { namespace: ConfigNamespace; id: string; revision: number };

export type Publication = {
  publication_id: string;
  scope_id: string;
  /** Starts at 1 in each scope. */
  snapshot_version: number;
  /** Ordered by kind, then id. */
  entries: ResourceRef[];
  source_config_revisions: SourceRevision[];
  created_by?: string;
  created_at_ms: number;
  metadata: JsonObject;
};
