import type { JsonObject } from '../../schema/endpoint.ts';
import { Integrity, Invalid } from '../../schema/outcome.ts';
import type { ResourceRef, ResourceVersion } from '../../schema/publication.ts';
import type { Store } from '../../store/index.ts';
import type { Tool } from '../../tools/tool.ts';
import { hashOf } from './canonical.ts';
import { type Part, partOf } from './parts.ts';
import { type Marks, refOf, SCOPE } from './publication.ts';
import type { Snapshot } from './snapshot.ts';
import { toolPart } from './tool-parts.ts';

/**
 * Snapshots that are not live any more, for the runs that were started with them (config.md 7).
 *
 * Guarantees: exactly the publication of that number, each value held against its hash. What no publication has is
 * of the current process: keys of providers, the code of tools and plugins. A tool that is gone is left out.
 * Costs: what a publication shares with the live one is taken from there, the rest is read once; the snapshots that
 * were used last are kept.
 */

const KEPT = 32;

export type PastDeps = {
  store: Pick<Store, 'publications'>;
  live(): { snapshot: Snapshot; marks: Marks };
  /** The key of a provider as it is stored now, if it was given for the same place. */
  keyOf(providerId: string, published: JsonObject): string | undefined;
  /** A tool of this process. */
  tool(id: string): Tool | undefined;
  build(resolution_id: string, parts: readonly Part[]): Snapshot;
};

export type Past = {
  /** @throws Invalid when there is no such publication, Integrity when it is not what was published */
  at(resolution_id: string): Snapshot;
  /** For one that was just made. */
  keep(snapshot: Snapshot): void;
  /** What is of the current process has changed. */
  forget(): void;
};

export const createPast = ({ store, live, keyOf, tool, build }: PastDeps): Past => {
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
    return build(resolution_id, parts);
  };

  /** Read, and what it was. */
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
    return partOf(kind, id, api_key === undefined ? value : { ...value, api_key });
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
