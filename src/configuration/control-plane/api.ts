import type { AgentVersion, AgentVersionDiff } from '../../schema/agent-version.ts';
import type { AuditAction, AuditEvent, Caller } from '../../schema/audit-event.ts';
import type { ConfigNamespace, ConfigSource } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import type { Accept } from '../../schema/idempotency.ts';
import type { BudgetWarning } from '../budget-warnings.ts';
import type { CircleWarning } from '../delegate-circles.ts';
import type { Dependent } from '../dependents.ts';
import type { AuthWarning, Diagnostic, SecretWarning, ToolWarning } from '../diagnostics.ts';
import type { ProviderToolWarning } from '../provider-tools.ts';
import type { SectionWarning } from '../sections.ts';
import type { SettingWarning } from '../setting-warnings.ts';
import type { UnknownModelWarning } from '../unknown-models.ts';

/**
 * The configuration API of the routes, the command line and the assistant (config.md 2 to 9).
 *
 * Guarantees: all returned values are redacted. A change is stored, published and audited in one commit, or not at all.
 * Problems are thrown as the classes of `schema/outcome.ts` with the messages of config.md 2.3.
 */

export type { Caller };

/**
 * `dropsSecrets`: an import removes the stored secrets that its document does not bring for another destination, and the
 * diagnostics report them. Other writes are refused.
 */
export type OfSecrets = { dropsSecrets?: boolean };

export type Page = { offset?: number; limit?: number };

export type EntryMeta = {
  source: ConfigSource;
  hidden: boolean;
  user_overrides?: JsonObject;
  /** Values of the overridden fields without their overrides. */
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
  user?: string;
  /** Time in milliseconds. */
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
  /** @param id the entry that the body would replace (`?id=`) */
  validate(namespace: string, body: unknown, id?: string, of?: OfSecrets): Promise<JsonObject>;
  create(namespace: string, body: unknown, caller: Caller, keyed?: Accept<JsonObject>): Promise<JsonObject>;
  /** Creates or replaces an entry. */
  replace(namespace: string, id: string, body: unknown, caller: Caller, of?: OfSecrets): Promise<JsonObject>;
  /** @throws Conflict with `used_by` in its details when other entries depend on it and `force` is not set */
  remove(namespace: string, id: string, force: boolean, caller: Caller): Promise<void>;
  /** @throws NotFound with a `reason`, Unprocessable, or Unavailable without an audit log */
  restore(namespace: string, id: string, version: string | number, caller: Caller): Promise<JsonObject>;
  /** Drafts of agents. @throws NotFound `draft not found: agents/<id>` */
  readonly drafts: {
    get(id: string): JsonObject;
    put(id: string, body: unknown, caller: Caller): Promise<JsonObject>;
    remove(id: string, caller: Caller): Promise<void>;
    publish(id: string, caller: Caller, keyed?: Accept<JsonObject>): Promise<JsonObject>;
  };
  /** Published versions of agents, without secrets. @throws NotFound `agent not found: <id>@<version>` */
  readonly versions: {
    /** Newest first. @throws NotFound `not found: agents/<id>` */
    list(id: string, page?: { before?: number | undefined; limit?: number | undefined }): AgentVersion[];
    get(id: string, version: number): JsonObject;
    diff(id: string, between: { from: number; to: number }): Promise<AgentVersionDiff>;
  };
  readonly overrides: {
    /** Returns the override object after the change without storing it. */
    preview(namespace: string, id: string, body: unknown, of?: OfSecrets): Promise<JsonObject>;
    /** Returns the effective entry. */
    patch(namespace: string, id: string, body: unknown, caller: Caller, of?: OfSecrets): Promise<JsonObject>;
    clear(namespace: string, id: string, caller: Caller): Promise<JsonObject>;
    clearField(namespace: string, id: string, field: string, caller: Caller): Promise<JsonObject>;
  };
  diagnostics(): (
    | Diagnostic
    | SectionWarning
    | CircleWarning
    | ToolWarning
    | AuthWarning
    | SecretWarning
    | SettingWarning
    | UnknownModelWarning
    | ProviderToolWarning
    | BudgetWarning
  )[];
  removalPreview(providerId: string): JsonObject;
  /** Returns the entries because of which a plain `remove` is refused. @throws NotFound */
  usedBy(namespace: string, id: string): Dependent[];
  permissionPreview(agentId: string): JsonObject;
  capabilities(): JsonObject;
  /**
   * Returns the spec including its secrets, for a test of the provider; never for responses. @throws NotFound `not
   * found: providers/<id>`
   */
  providerSpec(id: string): JsonObject;
  readonly audit: {
    page(filter: AuditFilter): { items: AuditEvent[]; texts: string[]; next_cursor?: string };
    /** Records changes that do not concern entries: the restart of a server, the settings of the assistant. */
    record(
      event: Pick<AuditEvent, 'action' | 'resource' | 'before' | 'after'>,
      caller: Caller,
    ): Promise<void>;
  };
};
