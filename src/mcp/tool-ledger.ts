import { isDeepStrictEqual } from 'node:util';
import { excerpt } from './bounds.ts';
import { type Connection, masked } from './connection.ts';
import type { Offer } from './offer.ts';
import type { ToolChange, ToolRecords } from './pins.ts';

/**
 * The tool records of all servers, in memory and durable. Each change of a definition is reported once, with the
 * details that an operator needs to judge it.
 */
export type ToolLedger = {
  /** Returns undefined if the server was never listed. */
  read(server: string): ToolRecords | undefined;
  /** Records a listing of a live entry. */
  write(connection: Connection, offer: Offer): void;
  /** Resolves when the records are durable. */
  replace(server: string, records: ToolRecords): Promise<void>;
  retain(servers: ReadonlySet<string>): void;
};

export type ToolLedgerDeps = {
  read(server: string): ToolRecords | undefined;
  /** Resolves when the records are durable; must not throw. @param changes for the audit log */
  write(server: string, records: ToolRecords, changes: readonly ReportedChange[]): Promise<void>;
  /** Must not throw. */
  remove(server: string): void;
  /** Returns servers with records. */
  servers(): readonly string[];
};

/** A change in its displayed form. */
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
      // Changes of an earlier offer are recorded already.
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
