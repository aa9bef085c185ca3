import { type ReportedChange, type ToolLedgerDeps, ToolRecords } from './mcp/index.ts';
import type { AuditLog } from './registry/config/audit-log.ts';
import type { JsonObject } from './schema/endpoint.ts';
import type { Store } from './store/index.ts';

/**
 * What is kept of the tools of MCP servers, and the audit events of their changes (config.md 9).
 *
 * Guarantees: an event is written before the record that makes it old news, so a crash in between repeats it and
 * loses none.
 */
export type McpToolStore = ToolLedgerDeps & {
  /** Changes are written from now on: the audit log comes with the configuration. */
  open(audit: Pick<AuditLog, 'record'>): void;
};

const DOCUMENT = 'mcp_tools';
const ACTOR = 'system:mcp';
/** Tools that one event names. */
const MOST_NAMED = 20;

export const createMcpToolStore = ({
  store,
  log,
}: {
  store: Pick<Store, 'documents' | 'batch' | 'commit'>;
  log: { warn(data: object, text: string): void };
}): McpToolStore => {
  let audit: Pick<AuditLog, 'record'> | undefined;
  let opened = (): void => {};
  let work: Promise<void> = new Promise((resolve) => {
    opened = resolve;
  });
  const all = new Map(Object.entries(store.documents.get(DOCUMENT) ?? {}));

  const save = async (): Promise<void> => {
    const batch = store.batch();
    store.documents.put(batch, DOCUMENT, Object.fromEntries(all));
    await store.commit(batch, 'input');
  };
  /** One after the other, in the order of the calls. */
  const enqueue = (task: () => Promise<void>): Promise<void> => {
    work = work
      .then(task)
      .catch((err: unknown) => log.warn({ err }, 'tools of MCP servers are not recorded'));
    return work;
  };

  return {
    open(given) {
      audit = given;
      opened();
    },
    read: (server) => ToolRecords.safeParse(all.get(server)).data,
    write(server, records, changes) {
      all.set(server, records);
      return enqueue(async () => {
        const event = {
          action: 'tools_changed',
          resource: `mcp-servers/${server}`,
          after: told(changes),
        } as const;
        if (changes.length > 0) await audit?.record(event, { actor: ACTOR, request_id: null });
        await save();
      });
    },
    remove(server) {
      if (all.delete(server)) enqueue(save);
    },
    servers: () => [...all.keys()],
  };
};

const told = (changes: readonly ReportedChange[]): JsonObject => ({
  count: changes.length,
  tools: changes.slice(0, MOST_NAMED).map((change) => ({ ...change })),
  truncated: changes.length > MOST_NAMED,
});
