import type { z } from 'zod';
import type { A2aServerSpec } from '../schema/a2a-server.ts';
import type { AgentInput } from '../schema/agent.ts';
import type { AuditAction, AuditEvent, AuditPage } from '../schema/audit-event.ts';
import type { ConfigDiagnostics, ConfigEntryMeta } from '../schema/config-answers.ts';
import type { JsonObject } from '../schema/json.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import type { ModelSpec, PoolSpec, ProviderSpec } from '../schema/model.ts';
import type { ToolSpec } from '../schema/tool-spec.ts';
import { type Connection, call, path } from './connection.ts';
import { type Paged, paged } from './pages.ts';

/** What is configured, and who changed it. Needs the rights of an admin. */

type Options = { signal?: AbortSignal };

/** What an entry is as it is written, by its namespace. */
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
};

export type Namespace = keyof EntrySpecs;

/** Those that can be saved: tools only take overrides. */
export type WritableNamespace = Exclude<Namespace, 'tools'>;

export type Config = {
  /** By id, all of them unless a page is asked for. Secrets are shown as `***`, or not at all. */
  list<Name extends Namespace>(
    namespace: Name,
    page?: { offset?: number; limit?: number },
    options?: Options,
  ): Promise<EntrySpecs[Name][]>;
  /** With its overrides. @throws NotFound */
  get<Name extends Namespace>(namespace: Name, id: string, options?: Options): Promise<EntrySpecs[Name]>;
  /** @throws Conflict when there is one; InvalidRequest, which says what is wrong */
  create<Name extends WritableNamespace>(
    namespace: Name,
    entry: EntrySpecs[Name],
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /** Replaces it, or creates it. @throws InvalidRequest, which says what is wrong */
  save<Name extends WritableNamespace>(
    namespace: Name,
    entry: EntrySpecs[Name],
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /** What a save would store; nothing is stored. @throws InvalidRequest, which says what is wrong */
  validate<Name extends WritableNamespace>(
    namespace: Name,
    entry: EntrySpecs[Name],
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /** @throws Conflict when others depend on it, unless it is forced; NotFound */
  delete(
    namespace: WritableNamespace,
    id: string,
    how?: { force?: boolean },
    options?: Options,
  ): Promise<void>;
  /** Its revision, its times, its overrides. @throws NotFound */
  meta(namespace: Namespace, id: string, options?: Options): Promise<ConfigEntryMeta>;
  /** Changes overrides, and gives the entry with them. @throws NotFound, InvalidRequest */
  override<Name extends 'agents' | 'tools'>(
    namespace: Name,
    id: string,
    changes: JsonObject,
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /** Takes one override back, or all of them. @throws NotFound, InvalidRequest */
  clearOverrides<Name extends 'agents' | 'tools'>(
    namespace: Name,
    id: string,
    field?: string,
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /** To what an event of the audit log recorded; the next write publishes it. @throws NotFound */
  restore<Name extends WritableNamespace>(
    namespace: Name,
    id: string,
    auditEventId: string,
    options?: Options,
  ): Promise<EntrySpecs[Name]>;
  /** What is wrong with what is stored. */
  diagnostics(options?: Options): Promise<ConfigDiagnostics['diagnostics']>;
};

export type AuditFilter = {
  /** Exact, or what stands before a `/`. */
  resource?: string;
  action?: AuditAction;
  /** A prefix. */
  actor?: string;
  /** RFC 3339. */
  since?: string;
  until?: string;
  limit?: number;
  cursor?: string;
};

export type Audit = {
  /** The newest first. */
  list(filter?: AuditFilter, options?: Options): Paged<AuditPage, AuditEvent>;
};

export const configOf = (connection: Connection): Config => {
  const at = (namespace: string, id: string, rest = ''): string => path`/v1/config/${namespace}/${id}` + rest;
  return {
    async list(namespace, page, { signal } = {}) {
      const target = path`/v1/config/${namespace}`;
      const asked = { signal, ...(page && { query: page }) };
      return (await call<{ items: EntrySpecs[typeof namespace][] }>(connection, 'GET', target, asked)).items;
    },
    get: (namespace, id, options) => call(connection, 'GET', at(namespace, id), options),
    create: (namespace, body, { signal } = {}) =>
      call(connection, 'POST', path`/v1/config/${namespace}`, { signal, body }),
    save: (namespace, body, { signal } = {}) =>
      call(connection, 'PUT', at(namespace, body.id), { signal, body }),
    async validate(namespace, body, { signal } = {}) {
      const target = at(namespace, 'validate');
      const asked = { signal, body, query: { id: body.id } };
      return (await call<{ normalized: EntrySpecs[typeof namespace] }>(connection, 'POST', target, asked))
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
    diagnostics: async (options) =>
      (await call<ConfigDiagnostics>(connection, 'GET', '/v1/config/diagnostics', options)).diagnostics,
  };
};

export const auditOf = (connection: Connection): Audit => ({
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
