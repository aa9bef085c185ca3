import type { Discovery } from '../../models/discovery.ts';
import type { SecretKeeper } from '../../schema/redaction/known-secrets.ts';
import type { ModelsInput } from '../models.ts';
import type { Assembly, Connected } from './assembly.ts';
import type { Commit, CommitDeps, createCommit } from './commit.ts';
import type { Content, createContentReader } from './content.ts';
import type { Part } from './parts.ts';
import { isSame, refOf, type Versioned, type Versions, versioned } from './publication.ts';
import type { SectionNotes } from './section-notes.ts';
import type { A2aServers, Budgets, McpServers } from './servers.ts';
import { createSnapshot, type Snapshot, type SnapshotDeps } from './snapshot.ts';
import type { ConfigState, Published } from './state.ts';

/** Builds the snapshot of the stored content and publishes it if it differs from the last one (config.md 7). */

export type PublisherDeps = CommitDeps & {
  read: ReturnType<typeof createContentReader>;
  assembly: Assembly;
  discovery: Pick<Discovery, 'known'>;
  mcp: McpServers | undefined;
  a2a: A2aServers | undefined;
  budgets: Budgets | undefined;
  snapshots: SnapshotDeps;
  notes: SectionNotes;
  secrets: Pick<SecretKeeper, 'note'>;
};

/** External data that was fetched for the written entry before it took the lock. */
export type Fetched = {
  connected?: Connected;
  /** Models of a provider. */
  models?: { provider: string; of: Discovered };
};

type Discovered = NonNullable<ModelsInput['discovered']>;

export type Settling = PublisherDeps & {
  commit: ReturnType<typeof createCommit>;
  build: Build;
  /** Number of the publication that an earlier process left live. */
  latest: number | undefined;
};

/** The state before a publication. */
type From = Pick<ConfigState, 'stored' | 'marks' | 'last'> & { live: Snapshot | undefined };

type Settlement = Pick<Commit, 'changes' | 'events' | 'caller'> & {
  /** Receives the new snapshot before anything is stored. @throws if it must not be published */
  built?(snapshot: Snapshot): void;
  /** Called in the event-loop tick in which the commit is visible. */
  published?(now: Published): void;
};

/** Updates the live snapshot from the stored content, with a new publication only if it differs from the last one. */
export const settle = async (
  { store, read, assembly, build, commit, latest }: Settling,
  { stored, marks, last, live: previous }: From,
  { built, published, ...more }: Settlement,
): Promise<Published> => {
  const content = read(stored, 'live');
  const { parts } = assembly.assemble(content);
  const versions = versioned(store.publications, parts, marks);
  const isNew = parts.length > 0 && !isSame(versions.marks, marks);
  const number = isNew ? last + 1 : (previous?.resolution_id ?? latest ?? 0);
  const live = build(String(number), parts, content, { previous, versions: versions.marks });
  built?.(live);
  const publication = isNew ? draftPublication(last + 1, versions, content.sources) : undefined;
  const next = { live, content, marks: versions.marks, last: isNew ? last + 1 : last };
  await commit({ ...more, publication }, () => published?.(next));
  return next;
};

export const draftPublication = (
  snapshot_version: number,
  { entries, added, released }: Versioned,
  source_config_revisions: Content['sources'],
  metadata = {},
) => ({ snapshot_version, entries, added, released, source_config_revisions, metadata });

type Build = (
  resolution_id: string,
  parts: readonly Part[],
  content: Pick<Content, 'mcpServers' | 'budgets'>,
  from: { previous: Snapshot | undefined; versions: Versions; fetched?: Fetched },
) => Snapshot;

export const createBuilder =
  ({ snapshots, discovery, secrets }: Pick<PublisherDeps, 'snapshots' | 'discovery' | 'secrets'>): Build =>
  (resolution_id, parts, { mcpServers, budgets }, { previous, versions, fetched: { models } = {} }) => {
    for (const { kind, entry } of parts) if (kind === 'provider' || kind === 'agent') secrets.note(entry);
    for (const server of mcpServers) secrets.note(server);
    return createSnapshot(snapshots, {
      resolution_id,
      parts,
      mcpServers: mcpServers.map(({ id }) => id),
      budgets,
      versionOf: (agent) => versions.get(refOf({ kind: 'agent', id: agent }))?.version,
      discovered: (provider, model) =>
        models?.provider === provider.id ? models.of(provider, model) : discovery.known(provider, model),
      previous,
    });
  };
