import type { JsonObject } from '../../schema/endpoint.ts';
import { Integrity, Invalid } from '../../schema/outcome.ts';
import type { ResourceRef, ResourceVersion } from '../../schema/publication.ts';
import type { Store } from '../../store/index.ts';
import type { Tool } from '../../tools/tool.ts';
import { hashOf } from './canonical.ts';
import { createPart, type Part } from './parts.ts';
import { type Marks, refOf, SCOPE, type Versions } from './publication.ts';
import type { Snapshot } from './snapshot.ts';
import { toolPart } from './tool-parts.ts';

/**
 * Earlier snapshots, for the runs that were started with them (config.md 7).
 *
 * Guarantees: exactly the publication of that number, with each value verified against its hash. Data outside of
 * publications is that of the current process: keys of providers, and the code of tools and plugins. A tool that no
 * longer exists is omitted.
 * Cost: parts that are shared with the live snapshot are reused, and others are read once; the last used snapshots are
 * cached.
 */

const KEPT = 32;

export type SnapshotHistoryDeps = {
  store: Pick<Store, 'publications'>;
  live(): { snapshot: Snapshot; marks: Marks };
  /** Returns the stored key of a provider if it was set for the same address. */
  keyOf(providerId: string, published: JsonObject): string | undefined;
  /** Returns a tool of this process. */
  tool(id: string): Tool | undefined;
  build(resolution_id: string, parts: readonly Part[], versions: Versions): Snapshot;
};

export type SnapshotHistory = {
  /** @throws Invalid if the publication does not exist, Integrity if it was modified */
  at(resolution_id: string): Snapshot;
  /** Caches a new snapshot. */
  keep(snapshot: Snapshot): void;
  /** Clears the cache after a change of the current process's data. */
  forget(): void;
};

export const createSnapshotHistory = ({
  store,
  live,
  keyOf,
  tool,
  build,
}: SnapshotHistoryDeps): SnapshotHistory => {
  const kept = new Map<string, Snapshot>();

  const keep = (snapshot: Snapshot): void => {
    const { resolution_id } = snapshot;
    kept.delete(resolution_id);
    kept.set(resolution_id, snapshot);
    const [oldest] = kept.keys();
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
  };

  const load = (resolution_id: string): Snapshot => {
    const publication = NUMBER.test(resolution_id)
      ? store.publications.get(SCOPE, Number(resolution_id))
      : undefined;
    if (!publication) throw new Invalid(`registry snapshot not found: '${resolution_id}'`);
    const { snapshot, marks } = live();
    const shared = new Map(snapshot.parts.map((part) => [refOf(part), part]));
    const parts = publication.entries.flatMap((ref) => {
      const name = refOf(ref);
      const same = marks.get(name)?.version === ref.version && shared.get(name);
      return same || partFrom(checked(resolution_id, ref));
    });
    const versions = publication.entries.map((ref) => [refOf(ref), { version: ref.version }] as const);
    return build(resolution_id, parts, new Map(versions));
  };

  /** Reads a version and verifies it. */
  const checked = (resolution_id: string, { kind, id, version }: ResourceRef): ResourceVersion => {
    const found = store.publications.version(SCOPE, kind, id, version);
    const what = `registry snapshot '${resolution_id}': version ${version} of ${kind} '${id}'`;
    if (!found) throw new Integrity(`${what} is missing`);
    if (hashOf(found.value) !== found.hash) throw new Integrity(`${what} does not match its hash`);
    return found;
  };

  const partFrom = ({ kind, id, value }: ResourceVersion): Part | [] => {
    if (kind === 'tool') {
      const code = tool(id);
      return code ? toolPart(code, String(value.description)) : [];
    }
    const api_key = kind === 'provider' ? keyOf(id, value) : undefined;
    return createPart(kind, id, api_key === undefined ? value : { ...value, api_key });
  };

  return {
    keep,
    forget: () => kept.clear(),
    at(resolution_id) {
      const snapshot = kept.get(resolution_id) ?? load(resolution_id);
      keep(snapshot);
      return snapshot;
    },
  };
};

const NUMBER = /^[1-9]\d{0,15}$/;
