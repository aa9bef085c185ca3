import type { JsonObject } from '../../data/guard.ts';
import { type Meta, type SourceState, sourceState } from '../../data/meta.ts';
import type { Outgoing } from '../../data/request.ts';
import { merged, mergeParts } from '../../entry/merge.ts';
import { type Unread, withUnread } from '../../schema-form/context.ts';
import { changedFields, meaningOf, newDraft, withFields } from './draft.ts';
import { baseOf, patchOf } from './override-patch.ts';
import type { Draft } from './panel.ts';

/** One agent while it is open: what it was, what became of it, and how that is written. */
export type Editing = {
  /** Of this opening: it stays while a new agent becomes a stored one. */
  key: number;
  isNew: boolean;
  /** As the service has it; of a new one, what it started with. */
  start: Draft;
  /** Undefined: nothing is known of it beside itself. */
  meta: Meta | undefined;
  /** What is known of it without its overrides. */
  base: JsonObject;
  draft: Draft;
  /** Texts in the place of values that are no JSON yet, by field: with them it cannot be saved. */
  unread: Unread;
};

let keys = 0;

const nextKey = (): number => {
  keys += 1;
  return keys;
};

const asDraft = (spec: JsonObject): Draft => ({ ...spec, id: typeof spec.id === 'string' ? spec.id : '' });

/** @param copied what it takes over from another */
export const startNew = (localKind: string, copied: Draft = newDraft(localKind)): Editing => ({
  key: nextKey(),
  isNew: true,
  start: copied,
  meta: undefined,
  base: {},
  draft: copied,
  unread: {},
});

export const overridesOf = ({ meta }: Pick<Editing, 'meta'>): JsonObject => meta?.user_overrides ?? {};

export const opened = (spec: JsonObject, meta: Meta | undefined): Editing => ({
  key: nextKey(),
  isNew: false,
  start: asDraft(spec),
  meta,
  base: baseOf(spec, meta?.user_overrides ?? {}),
  draft: asDraft(spec),
  unread: {},
});

/** The same after a write: nothing is unsaved. */
export const reopened = (before: Editing, spec: JsonObject, meta: Meta | undefined): Editing => ({
  key: before.key,
  isNew: false,
  start: asDraft(spec),
  meta,
  base: baseOf(spec, meta?.user_overrides ?? {}, before.base),
  draft: asDraft(spec),
  unread: {},
});

/** Something else has changed it: what is unsaved stays so, all else is as it is now. */
export const rebased = (before: Editing, spec: JsonObject, meta: Meta | undefined): Editing => ({
  ...reopened(before, spec, meta),
  unread: before.unread,
  draft: merged(
    spec,
    before.draft,
    mergeParts({ base: before.start, theirs: spec, mine: before.draft }, meaningOf).map((part) =>
      part.isConflict ? { ...part, from: 'mine' } : part,
    ),
  ),
});

export const edited = (editing: Editing, fields: JsonObject, localKind: string): Editing => ({
  ...editing,
  draft: withFields(editing.draft, fields, localKind),
});

/** What is typed at this field is no JSON; undefined: it is, or is gone. */
export const typedAt = (editing: Editing, field: string, text: string | undefined): Editing => ({
  ...editing,
  unread: withUnread(editing.unread, field, text),
});

/** Another draft altogether: what was typed into the one before is gone. */
export const replacedBy = (editing: Editing, draft: Draft): Editing => ({ ...editing, draft, unread: {} });

export const isDirty = ({ start, draft, unread }: Editing): boolean =>
  Object.keys(unread).length > 0 || changedFields(start, draft).length > 0;

/** Undefined for a new one. */
export const sourceOf = ({ meta, isNew }: Editing): SourceState | undefined =>
  isNew ? undefined : sourceState(meta);

/** Built-in ones are given overrides; all others are written as a whole. */
export const isPatched = (editing: Editing): boolean => {
  const source = sourceOf(editing);
  return source === 'builtin' || source === 'customized';
};

export const overridePatch = (editing: Editing, localKind: string): JsonObject =>
  patchOf({
    stored: editing.start,
    draft: editing.draft,
    base: editing.base,
    overrides: overridesOf(editing),
    localKind,
  });

/** Saving an agent that a user has made, as a whole, drops its overrides. */
export const dropsOverrides = (editing: Editing): boolean =>
  sourceOf(editing) === 'user' && Object.keys(overridesOf(editing)).length > 0;

const entryOf = (id: string): string => `/v1/config/agents/${encodeURIComponent(id)}`;

export const saveRequest = (editing: Editing, localKind: string): Outgoing => {
  const { draft } = editing;
  if (editing.isNew) return { method: 'POST', path: '/v1/config/agents', body: draft };
  if (!isPatched(editing)) return { method: 'PUT', path: entryOf(draft.id), body: draft };
  const path = `${entryOf(draft.id)}/overrides`;
  return { method: 'PATCH', path, body: overridePatch(editing, localKind) };
};

/** The same, without storing anything. */
export const validateRequest = (editing: Editing, localKind: string): Outgoing => {
  const { draft } = editing;
  const path = '/v1/config/agents/validate';
  if (editing.isNew) return { method: 'POST', path, body: draft };
  if (!isPatched(editing)) return { method: 'POST', path, query: { id: draft.id }, body: draft };
  return {
    method: 'POST',
    path: `${entryOf(draft.id)}/overrides`,
    body: overridePatch(editing, localKind),
  };
};

/** What a write counts up. */
export const revisionOf = (meta: Meta | undefined): number | undefined => meta?.revision ?? meta?.version;
