import { isDeepStrictEqual } from 'node:util';
import type { AuditDraft } from '../../schema/audit-event.ts';
import { changedPath } from '../../schema/redaction/addresses.ts';
import type { Caller } from './api.ts';
import { type Commit, createCommit } from './commit.ts';
import type { Content } from './content.ts';
import type { Part } from './parts.ts';
import { type Marks, previewMetadata, readLatest, refOf, type Versioned, versioned } from './publication.ts';
import {
  createBuilder,
  draftPublication,
  type Fetched,
  type PublisherDeps,
  type Settling,
  settle,
} from './settlement.ts';
import type { Snapshot } from './snapshot.ts';
import { createSnapshotHistory, type SnapshotHistory } from './snapshot-history.ts';
import { type ConfigState, createConfigState } from './state.ts';
import { type Change, published, readStored, type Stored, withChanges } from './stored.ts';

/**
 * Stores changes and publishes them (config.md 2.5, 7).
 *
 * Guarantees: records, publication and audit events of a change are one commit, and the live snapshot is replaced in
 * the event-loop tick in which the commit becomes visible. So everything that is stored is also live, except after a
 * restore, by design. A failed change has no effects.
 * Relies on its callers for one change at a time.
 * Cost: one pass over all parts per change; unchanged parts are reused.
 */
export type Publisher = {
  stored(): Stored;
  live(): Snapshot;
  /** Calls the listener whenever the live snapshot changes; it must not throw. */
  watch(listener: (live: Snapshot) => void): void;
  /** Returns the snapshot that publishing all stored content would produce. */
  current(): Snapshot;
  /** Returns the configuration after a change without storing it. */
  candidate(changes: readonly Change[], fetched?: Fetched): Candidate;
  /** @throws Unavailable `storage error: <detail>` */
  commit(
    candidate: Candidate,
    events: readonly AuditDraft[],
    caller: Caller,
    more?: Pick<Commit, 'keyed' | 'also'>,
  ): Promise<void>;
  /** Stores changes without publishing; they contain the version that stays live. @throws Error */
  store(
    changes: readonly Change[],
    events: readonly AuditDraft[],
    caller: Caller,
    also?: Commit['also'],
  ): Promise<void>;
  /** Returns the versions of the live resources. */
  marks(): Marks;
  /**
   * Publishes a separate snapshot for one draft or, with its number, for an earlier version; `use` validates it before
   * it is stored. @throws errors of `use`
   */
  preview<Result>(draft: Part, use: (snapshot: Snapshot) => Result, version?: number): Promise<Result>;
  /** @throws Invalid if the publication does not exist, Integrity if it was modified */
  at(resolution_id: string): Snapshot;
  /** Publishes after external tools, models or agents have changed. */
  refresh(): Promise<void>;
  /** Reads the stored records again, which another process may have changed. */
  reload(): Promise<void>;
};

export type Candidate = {
  readonly stored: Stored;
  readonly changes: readonly Change[];
  readonly content: Content;
  readonly snapshot: Snapshot;
  readonly versions: Versioned;
  /** Ids of tools of the connected server that already exist. */
  readonly conflicts: readonly string[];
};

/** The changes of a start. */
export type Start = Pick<Commit, 'changes' | 'events' | 'caller'> & {
  /** @throws if the service must not start; then nothing is stored */
  check(snapshot: Snapshot): void;
};

/** @throws errors of the start's `check` */
export const startPublisher = async (
  deps: PublisherDeps,
  start: (stored: Stored) => Start,
): Promise<Publisher> => {
  const before = readStored(deps.store);
  const latest = readLatest(deps.store.publications);
  const { check, ...brought } = start(before);
  const stored = withChanges(before, brought.changes);
  const settling: Settling = {
    ...deps,
    commit: createCommit(deps),
    build: createBuilder(deps),
    latest: latest.live,
  };
  const first = await settle(settling, { ...latest, stored, live: undefined }, { ...brought, built: check });
  const state = createConfigState({ stored, ...first });
  const publishing: Publishing = { ...settling, state, history: openHistory(settling, state) };

  applyServers(deps, state);
  const watch = (listener: (live: Snapshot) => void): void => {
    state.select(({ live }) => live).subscribe(listener);
  };
  deps.notes.live(first.live);
  watch(deps.notes.live);
  return {
    stored: () => now(state).stored,
    live: () => now(state).live,
    watch,
    current: createCurrent(publishing),
    candidate: (changes, fetched = {}) => plan(publishing, changes, fetched),
    commit: (candidate, events, caller, more) => publish(publishing, candidate, { events, caller, ...more }),
    marks: () => now(state).marks,
    store(changes, events, caller, also) {
      return publishing.commit({ changes, events, caller, also }, () => {
        if (changes.length === 0) return;
        state.trigger.stored({ stored: withChanges(now(state).stored, changes) });
        publishing.history.forget();
      });
    },
    preview: (draft, use, version) => preview(publishing, { draft, version }, use),
    at(resolution_id) {
      const { live } = now(state);
      return resolution_id === live.resolution_id ? live : publishing.history.at(resolution_id);
    },
    refresh: () => refresh(publishing, {}),
    async reload() {
      const stored = readStored(deps.store);
      if (!isDeepStrictEqual(stored, now(state).stored)) await refresh(publishing, { stored });
    },
  };
};

type State = ReturnType<typeof createConfigState>;

const now = (state: State): ConfigState => state.getSnapshot().context;

/** Passes the configured servers and budgets to their users, now and after each change. */
const applyServers = ({ secrets, mcp, a2a, budgets: meter }: PublisherDeps, state: State): void => {
  const apply = ({ mcpServers, a2aServers, budgets }: Content): void => {
    for (const server of a2aServers) secrets.note(server);
    mcp?.apply(mcpServers);
    a2a?.apply(a2aServers);
    meter?.apply(budgets);
  };
  apply(now(state).content);
  state.select(({ content }) => content).subscribe(apply);
  const retain = (entries: Stored['mcp-servers']): void => mcp?.retain(new Set(entries.keys()));
  retain(now(state).stored['mcp-servers']);
  state.select(({ stored }) => stored['mcp-servers']).subscribe(retain);
};

const openHistory = ({ store, read, assembly, build }: Settling, state: State): SnapshotHistory =>
  createSnapshotHistory({
    store,
    live: () => ({ snapshot: now(state).live, marks: now(state).marks }),
    keyOf: (id, published) => {
      const spec = now(state).stored.providers.get(id)?.spec;
      const isMoved = changedPath(published, spec, { path: ['api_key'], isPatch: false }) !== undefined;
      return typeof spec?.api_key === 'string' && !isMoved ? spec.api_key : undefined;
    },
    tool: assembly.tool,
    build: (resolution_id, parts, versions) => {
      const { stored, live: previous } = now(state);
      return build(resolution_id, parts, read(stored, 'live'), { previous, versions });
    },
  });

type Publishing = Settling & { state: State; history: SnapshotHistory };

const refresh = async (
  publishing: Publishing,
  changed: Partial<Pick<ConfigState, 'stored'>>,
): Promise<void> => {
  const { state, history } = publishing;
  await settle(
    publishing,
    { ...now(state), ...changed },
    {
      changes: [],
      events: [],
      caller: REFRESH,
      built: history.forget,
      published: (next) => state.trigger.published({ ...next, ...changed }),
    },
  );
};

/** Rebuilds the unpublished snapshot only after a change. */
const createCurrent = ({ state, read, assembly, build }: Publishing): (() => Snapshot) => {
  let unpublished: { of: Stored; live: Snapshot; snapshot: Snapshot } | undefined;
  return () => {
    const { stored, live, marks } = now(state);
    if (published(stored).length === 0) return live;
    if (unpublished?.of !== stored || unpublished.live !== live) {
      const content = read(stored, 'stored');
      const { parts } = assembly.assemble(content);
      const snapshot = build(live.resolution_id, parts, content, { previous: live, versions: marks });
      unpublished = { of: stored, live, snapshot };
    }
    return unpublished.snapshot;
  };
};

const plan = (
  { state, store, read, assembly, build }: Publishing,
  given: readonly Change[],
  fetched: Fetched,
): Candidate => {
  const { stored, live, marks, last } = now(state);
  const changes = [...given, ...published(withChanges(stored, given))];
  const after = withChanges(stored, changes);
  const content = read(after, 'stored');
  const { parts, conflicts } = assembly.assemble(content, fetched.connected);
  const resolution_id = parts.length > 0 ? String(last + 1) : live.resolution_id;
  const versions = versioned(store.publications, parts, marks);
  const snapshot = build(resolution_id, parts, content, {
    previous: live,
    versions: versions.marks,
    fetched,
  });
  return { stored: after, changes, content, snapshot, versions, conflicts };
};

const publish = (
  { state, history, commit }: Publishing,
  { stored: after, changes, content, snapshot, versions }: Candidate,
  { events, caller, keyed, also }: Pick<Commit, 'events' | 'caller' | 'keyed' | 'also'>,
): Promise<void> => {
  const { stored, last } = now(state);
  const isEmpty = snapshot.parts.length === 0;
  const publication = isEmpty ? undefined : draftPublication(last + 1, versions, content.sources);
  return commit({ changes, events, caller, publication, keyed, also }, () => {
    if (after.providers !== stored.providers) history.forget();
    state.trigger.published({
      stored: after,
      live: snapshot,
      content,
      marks: versions.marks,
      last: publication ? last + 1 : last,
    });
  });
};

const preview = async <Result>(
  { state, store, read, build, notes, commit, history }: Publishing,
  { draft, version }: { draft: Part; version: number | undefined },
  use: (snapshot: Snapshot) => Result,
): Promise<Result> => {
  const { live, last, stored, marks } = now(state);
  const others = live.parts.filter(({ kind, id }) => kind !== draft.kind || id !== draft.id);
  const parts = [...others, draft];
  const known = version === undefined ? marks : withMark(marks, draft, version);
  const versions = { ...versioned(store.publications, parts, known), released: [] };
  const snapshot = build(String(last + 1), parts, read(stored, 'live'), {
    previous: live,
    versions: versions.marks,
  });
  const result = use(snapshot);
  notes.draft(snapshot);
  const publication = draftPublication(last + 1, versions, [], previewMetadata(live.resolution_id));
  await commit({ changes: [], events: [], caller: PREVIEW, publication }, () => {
    state.trigger.previewed();
    history.keep(snapshot);
  });
  return result;
};

const withMark = (marks: Marks, part: Part, version: number): Marks =>
  new Map(marks).set(refOf(part), { version, hash: part.hash() });

const PREVIEW: Caller = { actor: 'system:preview', request_id: null };
const REFRESH: Caller = { actor: 'system:refresh', request_id: null };
