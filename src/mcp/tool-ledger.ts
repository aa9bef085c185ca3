import { isDeepStrictEqual } from 'node:util';
import { excerpt } from './bounds.ts';
import { type Connection, masked } from './connection.ts';
import type { Offer } from './offer.ts';
import type { ToolChange, ToolRecords } from './pins.ts';

/**
 * The records of the tools of all servers, in memory and durable. A server whose definitions change is reported once
 * for each change, with what an operator needs to judge it.
 */
export type ToolLedger = {
  /** Undefined while a server was never listed. */
  read(server: string): ToolRecords | undefined;
  /** After a listing of a live entry. */
  write(connection: Connection, offer: Offer): void;
  /** Resolves when it is durable. */
  replace(server: string, records: ToolRecords): Promise<void>;
  retain(servers: ReadonlySet<string>): void;
};

export type ToolLedgerDeps = {
  read(server: string): ToolRecords | undefined;
  /** Resolves when it is durable; must not throw. @param changes for the audit log */
  write(server: string, records: ToolRecords, changes: readonly ReportedChange[]): Promise<void>;
  /** Must not throw. */
  remove(server: string): void;
  /** Servers that have records. */
  servers(): readonly string[];
};

/** A change as it is shown. */
export type ReportedChange = ToolChange & { description: string; held: boolean };

const SHOWN_CHARACTERS = 300;

export const createToolLedger = (deps: ToolLedgerDeps): ToolLedger => {
  const known = new Map<string, ToolRecords>();
  const read = (server: string): ToolRecords | undefined => {
    const records = known.get(server) ?? deps.read(server);
    if (records) known.set(server, records);
    return records;
  };
  return {
    read,
    write(connection, { records, changes, of }) {
      const { id } = connection.spec;
      const before = read(id);
      if (isDeepStrictEqual(before, records)) return;
      known.set(id, records);
      // Those of an offer that was made earlier are recorded already.
      const news = changes.filter(({ name, digest }) => before?.[name]?.pending?.digest !== digest);
      void deps.write(
        id,
        records,
        news.map((change) => ({
          ...change,
          description: descriptionIn(connection, of, change.name),
          held: connection.spec.pin_tools,
        })),
      );
    },
    replace(server, records) {
      known.set(server, records);
      return deps.write(server, records, []);
    },
    retain(servers) {
      for (const server of deps.servers()) {
        if (servers.has(server)) continue;
        known.delete(server);
        deps.remove(server);
      }
    },
  };
};

const descriptionIn = (connection: Connection, definitions: Offer['of'], tool: string): string =>
  excerpt(
    masked(connection, definitions.find(({ name }) => name === tool)?.description ?? ''),
    SHOWN_CHARACTERS,
  );
