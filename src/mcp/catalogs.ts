import type { JsonObject } from '../schema/json.ts';
import type { Connection } from './connection.ts';
import type { LeftOut } from './left-out.ts';
import { ToolDefinition } from './listing.ts';

/** The last tool list of a server whose connections belong to accounts (identity.md 6.1). */
export type StoredCatalog = {
  server: string;
  url: string;
  tools: JsonObject[];
  unusable: LeftOut[];
};

export type CatalogStore = {
  read(server: string): StoredCatalog | undefined;
  /** Must not throw. */
  write(catalog: StoredCatalog): void;
  /** Removes the catalogs of other servers; must not throw. */
  retain(servers: ReadonlySet<string>): void;
};

/** Returns undefined if the server was never listed at its present address. */
export const readCatalog = (
  catalogs: CatalogStore,
  { spec, target }: Connection,
): Pick<Connection, 'definitions' | 'unusable'> | undefined => {
  const stored = catalogs.read(spec.id);
  if (!stored || target.kind !== 'http' || stored.url !== target.url) return undefined;
  const definitions = stored.tools.flatMap((tool) => ToolDefinition.safeParse(tool).data ?? []);
  return { definitions, unusable: stored.unusable };
};

export const writeCatalog = (
  catalogs: CatalogStore,
  { spec, target, definitions, unusable }: Connection,
): void => {
  if (target.kind !== 'http') return;
  catalogs.write({
    server: spec.id,
    url: target.url,
    // Definitions are parsed from JSON.
    tools: definitions.map((definition) => ({ ...definition }) as JsonObject),
    unusable: [...unusable],
  });
};
