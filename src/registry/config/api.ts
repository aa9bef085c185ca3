import type { AuditAction, AuditEvent } from '../../schema/audit-event.ts';
import type { ConfigNamespace, ConfigSource } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import type { CircleWarning } from '../delegate-circles.ts';
import type { Diagnostic, ToolWarning } from '../diagnostics.ts';
import type { ProviderToolWarning } from '../provider-tools.ts';
import type { SectionWarning } from '../sections.ts';
import type { SettingWarning } from '../setting-warnings.ts';
import type { UnknownModelWarning } from '../unknown-models.ts';

/**
 * What the routes, the command line and the assistant ask of the configuration (config.md 2 to 9).
 *
 * Guarantees: everything that is returned is redacted; a change is stored, published and audited in one commit, or
 * nothing of it is. Problems are thrown as the classes of `schema/outcome.ts`, in the words of config.md 2.3.
 */

/** Who asks for a change, for the audit log (config.md 9). */
export type Caller = { actor: string; ip?: string; request_id: string | null };

export type Page = { offset?: number; limit?: number };

export type EntryMeta = {
  source: ConfigSource;
  hidden: boolean;
  user_overrides?: JsonObject;
  /** What the overridden fields say without their overrides. */
  base?: JsonObject;
  created_at: number;
  updated_at: number;
  revision: number;
  version: number;
  actor: string;
};

export type Entries = { namespace: ConfigNamespace; items: JsonObject[]; offset: number; limit: number };

export type AuditFilter = {
  resource?: string;
  action?: AuditAction;
  actor?: string;
  /** milliseconds */
  since?: number;
  until?: number;
  limit?: number;
  cursor?: string;
};

export type ConfigService = {
  list(namespace: string, page: Page): Entries;
  get(namespace: string, id: string): JsonObject;
  schema(namespace: string): JsonObject;
  metas(namespace: string, page: Page): { id: string; meta: EntryMeta }[];
  meta(namespace: string, id: string): EntryMeta;
  /** @param id of `?id=`: the entry that the body would replace */
  validate(namespace: string, body: unknown, id?: string): Promise<JsonObject>;
  create(namespace: string, body: unknown, caller: Caller): Promise<JsonObject>;
  /** An upsert. */
  replace(namespace: string, id: string, body: unknown, caller: Caller): Promise<JsonObject>;
  /** @throws Conflict with `used_by` in its details when other entries depend on it and `force` is not given */
  remove(namespace: string, id: string, force: boolean, caller: Caller): Promise<void>;
  /** @throws NotFound with a `reason`, Unprocessable, or Unavailable without an audit log */
  restore(namespace: string, id: string, version: string, caller: Caller): Promise<JsonObject>;
  readonly overrides: {
    /** The override object after the change; nothing is stored. */
    preview(namespace: string, id: string, body: unknown): Promise<JsonObject>;
    /** The effective entry. */
    patch(namespace: string, id: string, body: unknown, caller: Caller): Promise<JsonObject>;
    clear(namespace: string, id: string, caller: Caller): Promise<JsonObject>;
    clearField(namespace: string, id: string, field: string, caller: Caller): Promise<JsonObject>;
  };
  diagnostics(): (
    | Diagnostic
    | SectionWarning
    | CircleWarning
    | ToolWarning
    | SettingWarning
    | UnknownModelWarning
    | ProviderToolWarning
  )[];
  removalPreview(providerId: string): JsonObject;
  permissionPreview(agentId: string): JsonObject;
  capabilities(): JsonObject;
  /** With its secrets, for a test of the provider; not for answers. @throws NotFound `not found: providers/<id>` */
  providerSpec(id: string): JsonObject;
  readonly audit: {
    page(filter: AuditFilter): { items: AuditEvent[]; texts: string[]; next_cursor?: string };
    /** For changes that are not entries: the restart of a server, the settings of the assistant. */
    record(
      event: Pick<AuditEvent, 'action' | 'resource' | 'before' | 'after'>,
      caller: Caller,
    ): Promise<void>;
  };
};
