import { isDeepStrictEqual } from 'node:util';
import type { Discovery } from '../../models/discovery.ts';
import { changedPlace } from '../../schema/redaction/addresses.ts';
import type { SecretKeeper } from '../../schema/redaction/known-secrets.ts';
import type { ModelsInput } from '../models.ts';
import type { Caller } from './api.ts';
import type { Assembly, Connected } from './assembly.ts';
import type { AuditDraft } from './audit-log.ts';
import { type Commit, type CommitDeps, createCommit } from './commit.ts';
import type { Content, createContentReader } from './content.ts';
import type { Part } from './parts.ts';
import { createPast } from './past.ts';
import { isSame, previewOf, readLatest, type Versioned, versioned } from './publication.ts';
import type { SectionNotes } from './section-notes.ts';
import type { A2aServers, McpServers } from './servers.ts';
import { createSnapshot, type Snapshot, type SnapshotDeps } from './snapshot.ts';
import { type ConfigState, createConfigState, type Published } from './state.ts';
import { type Change, published, readStored, type Stored, withChanges } from './stored.ts';

/**
 * Stores changes and makes them live (config.md 2.5, 7).
 *
 * Guarantees: records, publication and audit events of a change are one commit, and what runs use is exchanged in
 * the turn in which the commit is known to be visible; so nothing is ever stored and not live, but for a restore,
 * which wants it so. A change that fails leaves no trace.
 * Relies on its callers for one change at a time.
 * Costs a pass over all parts a change; what did not change is taken over.
 */
export type Publisher = {
  stored(): Stored;
  live(): Snapshot;
  /** Told whenever something else is live than before; must not throw. */
  watch(listener: (live: Snapshot) => void): void;
  /** What would be live if everything that is stored were published. */
  current(): Snapshot;
  /** The configuration after a change, with everything else that is stored; nothing is stored by it. */
  candidate(changes: readonly Change[], fetched?: Fetched): Candidate;
  /** @throws Unavailable `storage error: <detail>` */
  commit(candidate: Candidate, events: readonly AuditDraft[], caller: Caller): Promise<void>;
  /** Without a publication: the changes say what stays live. @throws Error */
  store(changes: readonly Change[], events: readonly AuditDraft[], caller: Caller): Promise<void>;
  /** A snapshot of its own for one draft; `use` looks at it before it is stored. @throws what `use` throws */
  preview<Result>(draft: Part, use: (snapshot: Snapshot) => Result): Promise<Result>;
  /** @throws Invalid when there is no such publication, Integrity when it is not what was published */
  at(resolution_id: string): Snapshot;
  /** Tools, models or agents of others have changed. */
  refresh(): Promise<void>;
  /** What is stored may have been changed by somebody else. */
  reload(): Promise<void>;
};

/** What was asked of others for the entry that is written, before its turn. */
export type Fetched = {
  connected?: Connected;
  /** of the models of a provider */
  looked?: { provider: string; of: Discovered };
};

type Discovered = NonNullable<ModelsInput['discovered']>;

export type Candidate = {
  readonly stored: Stored;
  readonly changes: readonly Change[];
  readonly content: Content;
  readonly snapshot: Snapshot;
  /** ids of tools of the connected server that others have already */
  readonly conflicts: readonly string[];
};

export type PublisherDeps = CommitDeps & {
  read: ReturnType<typeof createContentReader>;
  assembly: Assembly;
  discovery: Pick<Discovery, 'known'>;
  mcp: McpServers | undefined;
  a2a: A2aServers | undefined;
  snapshots: SnapshotDeps;
  notes: SectionNotes;
  secrets: Pick<SecretKeeper, 'note'>;
};

/** What a start brings. */
export type Start = Pick<Commit, 'changes' | 'events' | 'caller'> & {
  /** @throws when the service must not start with it; nothing is stored then */
  check(snapshot: Snapshot): void;
};

/** @throws what `check` of the start throws */
export const startPublisher = async (
  deps: PublisherDeps,
  start: (stored: Stored) => Start,
): Promise<Publisher> => {
  const { store, read, assembly } = deps;
  const commit = createCommit(deps);
  const build = builderOf(deps);
  const before = readStored(store);
  const latest = readLatest(store.publications);
  const { check, ...brought } = start(before);
  let unpublished: { of: Stored; live: Snapshot; snapshot: Snapshot } | undefined;

  const publicationOf = (
    snapshot_version: number,
    { entries, added }: Versioned,
    source_config_revisions: Content['sources'],
    metadata = {},
  ) => ({ snapshot_version, entries, added, source_config_revisions, metadata });

  /** What is live by what is stored; a publication only if it is not the last one. */
  const settle = async (
    { stored, marks, last, live: previous }: From,
    more: Pick<Commit, 'changes' | 'events' | 'caller'>,
    look: (snapshot: Snapshot) => void,
    landed: (now: Published) => void,
  ): Promise<Published> => {
    const content = read(stored, 'live');
    const { parts } = assembly.assemble(content);
    const versions = versioned(store.publications, parts, marks);
    const isNew = parts.length > 0 && !isSame(versions.marks, marks);
    const number = isNew ? last + 1 : (previous?.resolution_id ?? latest.live ?? 0);
    const live = build(String(number), parts, content, { previous });
    look(live);
    const publication = isNew ? publicationOf(last + 1, versions, content.sources) : undefined;
    const now = { live, content, marks: versions.marks, last: isNew ? last + 1 : last };
    await commit({ ...more, publication }, () => landed(now));
    return now;
  };

  const stored = withChanges(before, brought.changes);
  const first = await settle({ ...latest, stored, live: undefined }, brought, check, () => {});
  const state = createConfigState({ stored, ...first });
  const now = (): ConfigState => state.getSnapshot().context;

  const tellServers = ({ mcpServers, a2aServers }: Content): void => {
    for (const server of a2aServers) deps.secrets.note(server);
    deps.mcp?.apply(mcpServers);
    deps.a2a?.apply(a2aServers);
  };
  tellServers(first.content);
  state.select(({ content }) => content).subscribe(tellServers);
  const retainServers = (entries: Stored['mcp-servers']): void => deps.mcp?.retain(new Set(entries.keys()));
  retainServers(now().stored['mcp-servers']);
  state.select(({ stored }) => stored['mcp-servers']).subscribe(retainServers);
  const watch = (listener: (live: Snapshot) => void): void => {
    state.select(({ live }) => live).subscribe(listener);
  };
  deps.notes.live(first.live);
  watch(deps.notes.live);

  const past = createPast({
    store,
    live: () => ({ snapshot: now().live, marks: now().marks }),
    keyOf: (id, published) => {
      const spec = now().stored.providers.get(id)?.spec;
      const isMoved = changedPlace(published, spec, { path: ['api_key'], isPatch: false }) !== undefined;
      return typeof spec?.api_key === 'string' && !isMoved ? spec.api_key : undefined;
    },
    tool: assembly.tool,
    build: (resolution_id, parts) => {
      const { stored, live: previous } = now();
      return build(resolution_id, parts, read(stored, 'live'), { previous });
    },
  });

  return {
    stored: () => now().stored,
    live: () => now().live,
    watch,
    current() {
      const { stored, live } = now();
      if (published(stored).length === 0) return live;
      if (unpublished?.of !== stored || unpublished.live !== live) {
        const content = read(stored, 'stored');
        const { parts } = assembly.assemble(content);
        const snapshot = build(live.resolution_id, parts, content, { previous: live });
        unpublished = { of: stored, live, snapshot };
      }
      return unpublished.snapshot;
    },
    candidate(given, fetched = {}) {
      const { stored, live, last } = now();
      const changes = [...given, ...published(withChanges(stored, given))];
      const after = withChanges(stored, changes);
      const content = read(after, 'stored');
      const { parts, conflicts } = assembly.assemble(content, fetched.connected);
      const resolution_id = parts.length > 0 ? String(last + 1) : live.resolution_id;
      const snapshot = build(resolution_id, parts, content, { previous: live, fetched });
      return { stored: after, changes, content, snapshot, conflicts };
    },
    commit({ stored: after, changes, content, snapshot }, events, caller) {
      const { stored, marks, last } = now();
      const versions = versioned(store.publications, snapshot.parts, marks);
      const isEmpty = snapshot.parts.length === 0;
      const publication = isEmpty ? undefined : publicationOf(last + 1, versions, content.sources);
      return commit({ changes, events, caller, publication }, () => {
        if (after.providers !== stored.providers) past.forget();
        state.trigger.published({
          stored: after,
          live: snapshot,
          content,
          marks: versions.marks,
          last: publication ? last + 1 : last,
        });
      });
    },
    store(changes, events, caller) {
      return commit({ changes, events, caller }, () => {
        state.trigger.stored({ stored: withChanges(now().stored, changes) });
        past.forget();
      });
    },
    async preview(draft, use) {
      const { live, last, stored, marks } = now();
      const others = live.parts.filter(({ kind, id }) => kind !== draft.kind || id !== draft.id);
      const parts = [...others, draft];
      const snapshot = build(String(last + 1), parts, read(stored, 'live'), { previous: live });
      const result = use(snapshot);
      deps.notes.draft(snapshot);
      const versions = versioned(store.publications, parts, marks);
      const publication = publicationOf(last + 1, versions, [], previewOf(live.resolution_id));
      await commit({ changes: [], events: [], caller: PREVIEW, publication }, () => {
        state.trigger.previewed();
        past.keep(snapshot);
      });
      return result;
    },
    at: (resolution_id) => (resolution_id === now().live.resolution_id ? now().live : past.at(resolution_id)),
    async refresh() {
      const nothing = { changes: [], events: [], caller: REFRESH };
      await settle(now(), nothing, past.forget, (learned) => state.trigger.published(learned));
    },
    async reload() {
      const stored = readStored(store);
      if (isDeepStrictEqual(stored, now().stored)) return;
      const nothing = { changes: [], events: [], caller: REFRESH };
      await settle({ ...now(), stored }, nothing, past.forget, (learned) =>
        state.trigger.published({ ...learned, stored }),
      );
    },
  };
};

/** What a publication follows on. */
type From = Pick<ConfigState, 'stored' | 'marks' | 'last'> & { live: Snapshot | undefined };

const PREVIEW: Caller = { actor: 'system:preview', request_id: null };
const REFRESH: Caller = { actor: 'system:refresh', request_id: null };

type Build = (
  resolution_id: string,
  parts: readonly Part[],
  content: Pick<Content, 'mcpServers'>,
  from: { previous: Snapshot | undefined; fetched?: Fetched },
) => Snapshot;

const builderOf =
  ({ snapshots, discovery, secrets }: Pick<PublisherDeps, 'snapshots' | 'discovery' | 'secrets'>): Build =>
  (resolution_id, parts, { mcpServers }, { previous, fetched: { looked } = {} }) => {
    for (const { kind, entry } of parts) if (kind === 'provider' || kind === 'agent') secrets.note(entry);
    for (const server of mcpServers) secrets.note(server);
    return createSnapshot(snapshots, {
      resolution_id,
      parts,
      mcpServers: mcpServers.map(({ id }) => id),
      discovered: (provider, model) =>
        looked?.provider === provider.id ? looked.of(provider, model) : discovery.known(provider, model),
      previous,
    });
  };
