import type { AuditLog } from '../configuration/control-plane/audit-log.ts';
import { type ReportedChange, type ToolLedgerDeps, ToolRecords } from '../mcp/index.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { Store } from '../store/index.ts';

/**
 * Persists the tool records of MCP servers, and audits their changes (config.md 9).
 *
 * Guarantees: an event is written before the record that makes it obsolete, so a crash in between repeats the event and
 * loses none.
 */
export type McpToolStore = ToolLedgerDeps & {
  /** Starts the writes, which wait until the configuration provides the audit log. */
  open(audit: Pick<AuditLog, 'record'>): void;
};

const DOCUMENT = 'mcp_tools';
const ACTOR = 'system:mcp';
/** Maximum number of tools listed in one event. */
const MOST_NAMED = 20;

export const createMcpToolStore = ({
  store,
  log,
}: {
  store: Pick<Store, 'documents' | 'batch' | 'commit'>;
  log: Pick<ServiceLog, 'warn'>;
}): McpToolStore => {
  let audit: Pick<AuditLog, 'record'> | undefined;
  let opened = (): void => {};
  let work: Promise<void> = new Promise((resolve) => {
    opened = resolve;
  });
  const all = new Map(Object.entries(store.documents.get(DOCUMENT) ?? {}));

  const save = async (): Promise<void> => {
    const batch = store.batch('commons');
    store.documents.put(batch, DOCUMENT, Object.fromEntries(all));
    await store.commit(batch, 'input');
  };
  /** Writes run one at a time, in the order of the calls. */
  const enqueue = (task: () => Promise<void>): Promise<void> => {
    work = work.then(task).catch((err: unknown) => log.warn('mcp.tools_not_stored', { err }));
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
          after: summarize(changes),
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

const summarize = (changes: readonly ReportedChange[]): JsonObject => ({
  count: changes.length,
  tools: changes.slice(0, MOST_NAMED).map((change) => ({ ...change })),
  truncated: changes.length > MOST_NAMED,
});
