import type { z } from 'zod';
import type { A2aServerSpec } from '../schema/a2a-server.ts';
import type { AgentInput } from '../schema/agent.ts';
import type { AgentVersion, AgentVersionDiff } from '../schema/agent-version.ts';
import type { AuditAction, AuditEvent, AuditPage } from '../schema/audit-event.ts';
import type { BudgetSpec } from '../schema/budget.ts';
import type { ConfigDiagnostics, ConfigEntryMeta } from '../schema/config-answers.ts';
import type { JsonObject } from '../schema/json.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import type { ModelSpec, PoolSpec, ProviderSpec } from '../schema/model.ts';
import type { ToolSpec } from '../schema/tool-spec.ts';
import { type Connection, call, path } from './connection.ts';
import type { KeyedOptions } from './keyed.ts';
import { type Paged, paged } from './pages.ts';

type Options = { signal?: AbortSignal };

/**
 * The written form of an entry by namespace (config.md 3): only the required fields must be present.
 *
 * @example
 * ```ts
 * const model: EntrySpecs['models'] = { id: 'fast', provider_id: 'openai', upstream_model: 'gpt-5-mini' };
 * await client.config.save('models', model);
 * ```
 */
export type EntrySpecs = {
  agents: AgentInput;
  models: z.input<typeof ModelSpec>;
  'model-pools': z.input<typeof PoolSpec>;
  providers: z.input<typeof ProviderSpec>;
  'mcp-servers': z.input<typeof McpServerSpec>;
  skills: {
    id: string;
    name: string;
    description: string;
    instructions_md: string;
    [field: string]: unknown;
  };
  tools: z.input<typeof ToolSpec>;
  'a2a-servers': z.input<typeof A2aServerSpec>;
  budgets: z.input<typeof BudgetSpec>;
};

/**
 * A kind of configuration entry.
 *
 * @example
 * ```ts
 * const namespaces: Namespace[] = ['agents', 'models', 'providers'];
 * for (const namespace of namespaces) console.log(namespace, (await client.config.list(namespace)).length);
 * ```
 */
export type Namespace = keyof EntrySpecs;

/**
 * A kind of configuration entry that clients write. Entries of tools only accept overrides.
 *
 * @example
 * ```ts
 * const forget = (namespace: WritableNamespace, id: string): Promise<void> =>
 *   client.config.delete(namespace, id, { force: true });
 * ```
 */
export type WritableNamespace = Exclude<Namespace, 'tools'>;

/**
 * Reads and changes the configuration while the service runs (config.md 2): `client.config`. Requires admin rights.
 * Each write is validated and published as a whole; running runs keep the configuration that they started with.
 *
 * @example
 * ```ts
 * await client.config.save('agents', { id: 'poet', model_id: 'default', system_prompt: 'Answer in one verse.' });
 * const problems = await client.config.diagnostics();
 * for (const { severity, message } of problems) console.log(severity, message);
 * ```
 */
export type Config = {
  /** Lists entries by id, all of them unless a page is requested. Secrets are returned as `***`, or omitted. */
  list<Name extends Namespace>(
    namespace: Name,
    page?: { offset?: number; limit?: number },
    options?: Options,
  ): Promise<EntrySpecs[Name][]>;
  /** Returns an entry with its overrides. @throws NotFound */
  get<Name extends Namespace>(namespace: Name, id: string, options?: Options): Promise<EntrySpecs[Name]>;
  /** Creates an entry. @throws Conflict if the entry exists; InvalidRequest with the problems */
  create<Name extends WritableNamespace>(
    namespace: Name,
    entry: EntrySpecs[Name],
    options?: KeyedOptions,
  ): Promise<EntrySpecs[Name]>;
  /** Replaces or creates an entry. @throws InvalidRequest with the problems */
  save<Name extends WritableNamespace>(
    namespace: Name,
    entry: EntrySpecs[Name],
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /** Returns the entry that a save would store, without storing it. @throws InvalidRequest with the problems */
  validate<Name extends WritableNamespace>(
    namespace: Name,
    entry: EntrySpecs[Name],
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /** Deletes an entry. @throws Conflict if other entries depend on it, unless forced; NotFound */
  delete(
    namespace: WritableNamespace,
    id: string,
    how?: { force?: boolean },
    options?: Options,
  ): Promise<void>;
  /** Returns the revision, timestamps and overrides of an entry. @throws NotFound */
  meta(namespace: Namespace, id: string, options?: Options): Promise<ConfigEntryMeta>;
  /** Changes overrides and returns the effective entry. @throws NotFound, InvalidRequest */
  override<Name extends 'agents' | 'tools'>(
    namespace: Name,
    id: string,
    changes: JsonObject,
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /** Removes one override, or all of them. @throws NotFound, InvalidRequest */
  clearOverrides<Name extends 'agents' | 'tools'>(
    namespace: Name,
    id: string,
    field?: string,
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /**
   * Restores a payload of the audit log by its id, or an agent by the number of a version; the next write publishes it.
   * @throws NotFound
   */
  restore<Name extends WritableNamespace>(
    namespace: Name,
    id: string,
    version: string | number,
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /** Lists the published versions of an agent, newest first. A run names one as `<id>@<version>`. @throws NotFound */
  versions(
    agentId: string,
    page?: { limit?: number; before?: number },
    options?: Options,
  ): Promise<AgentVersion[]>;
  /** Returns a published version of an agent. @throws NotFound */
  version(agentId: string, version: number, options?: Options): Promise<AgentInput>;
  /** Compares two published versions of an agent. @throws NotFound */
  versionDiff(
    agentId: string,
    between: { from: number; to: number },
    options?: Options,
  ): Promise<AgentVersionDiff>;
  /** Returns the draft of an agent. @throws NotFound */
  draft(agentId: string, options?: Options): Promise<AgentInput>;
  /** Saves the draft of an agent, which runs name as `<id>@draft`. @throws InvalidRequest with the problems */
  saveDraft(draft: AgentInput, options?: Options): Promise<AgentInput>;
  /** Deletes the draft of an agent. @throws NotFound */
  deleteDraft(agentId: string, options?: Options): Promise<void>;
  /** Publishes the draft of an agent and removes the draft. @throws NotFound, InvalidRequest */
  publishDraft(agentId: string, options?: KeyedOptions): Promise<AgentInput>;
  /** Returns the problems of the stored configuration. */
  diagnostics(options?: Options): Promise<ConfigDiagnostics['diagnostics']>;
};

/**
 * The events of the audit log to list, and the size and start of the page.
 *
 * @example
 * ```ts
 * const filter: AuditFilter = { resource: 'agents/poet', since: '2026-11-01T00:00:00Z' };
 * for await (const { ts, actor, action } of client.audit.list(filter)) console.log(ts, actor, action);
 * ```
 */
export type AuditFilter = {
  /** Exact, or the part before a `/`. */
  resource?: string;
  action?: AuditAction;
  /** A prefix; not together with `user`. */
  actor?: string;
  user?: string;
  /** RFC 3339. */
  since?: string;
  until?: string;
  limit?: number;
  cursor?: string;
};

/**
 * The log of configuration changes (config.md 9): `client.audit`. Requires admin rights.
 *
 * @example
 * ```ts
 * const { items } = await client.audit.list({ action: 'delete', limit: 10 });
 * for (const { ts, actor, resource } of items) console.log(`${ts}: ${actor} deleted ${resource}`);
 * ```
 */
export type Audit = {
  /** Lists events, newest first. */
  list(filter?: AuditFilter, options?: Options): Paged<AuditPage, AuditEvent>;
};

export const createConfig = (connection: Connection): Config => {
  const at = (namespace: string, id: string, rest = ''): string => path`/v1/config/${namespace}/${id}` + rest;
  return {
    async list(namespace, page, { signal } = {}) {
      const target = path`/v1/config/${namespace}`;
      const options = { signal, ...(page && { query: page }) };
      return (await call<{ items: EntrySpecs[typeof namespace][] }>(connection, 'GET', target, options))
        .items;
    },
    get: (namespace, id, options) => call(connection, 'GET', at(namespace, id), options),
    create: (namespace, body, options) =>
      call(connection, 'POST', path`/v1/config/${namespace}`, { ...options, body }),
    save: (namespace, body, { signal } = {}) =>
      call(connection, 'PUT', at(namespace, body.id), { signal, body }),
    async validate(namespace, body, { signal } = {}) {
      const target = at(namespace, 'validate');
      const options = { signal, body, query: { id: body.id } };
      return (await call<{ normalized: EntrySpecs[typeof namespace] }>(connection, 'POST', target, options))
        .normalized;
    },
    async delete(namespace, id, { force } = {}, { signal } = {}) {
      await call(connection, 'DELETE', at(namespace, id), { signal, query: { force } });
    },
    meta: (namespace, id, options) => call(connection, 'GET', at(namespace, id, '/meta'), options),
    override: (namespace, id, body, { signal } = {}) =>
      call(connection, 'PATCH', at(namespace, id, '/overrides'), { signal, body }),
    clearOverrides: (namespace, id, field, options) =>
      call(
        connection,
        'DELETE',
        at(namespace, id, field === undefined ? '/overrides' : path`/overrides/${field}`),
        options,
      ),
    restore: (namespace, id, version, { signal } = {}) =>
      call(connection, 'POST', at(namespace, id, '/restore'), { signal, body: { version } }),
    versions: (id, query, { signal } = {}) =>
      call(connection, 'GET', at('agents', id, '/versions'), { signal, ...(query && { query }) }),
    version: (id, version, options) =>
      call(connection, 'GET', at('agents', id, `/versions/${version}`), options),
    versionDiff: (id, query, { signal } = {}) =>
      call(connection, 'GET', at('agents', id, '/versions/diff'), { signal, query }),
    draft: (id, options) => call(connection, 'GET', at('agents', id, '/draft'), options),
    saveDraft: (body, { signal } = {}) =>
      call(connection, 'PUT', at('agents', body.id, '/draft'), { signal, body }),
    async deleteDraft(id, options) {
      await call(connection, 'DELETE', at('agents', id, '/draft'), options);
    },
    publishDraft: (id, options) => call(connection, 'POST', at('agents', id, '/draft/publish'), options),
    diagnostics: async (options) =>
      (await call<ConfigDiagnostics>(connection, 'GET', '/v1/config/diagnostics', options)).diagnostics,
  };
};

export const createAudit = (connection: Connection): Audit => ({
  list: ({ cursor, ...query } = {}, options) =>
    paged(
      (from) =>
        call<AuditPage>(connection, 'GET', '/v1/audit-log', {
          signal: options?.signal,
          query: { ...query, cursor: from },
        }),
      ({ items }) => items,
      cursor,
    ),
});
