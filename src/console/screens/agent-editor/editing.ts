import type { JsonObject } from '../../data/guard.ts';
import { type Meta, type SourceState, sourceState } from '../../data/meta.ts';
import type { Outgoing } from '../../data/request.ts';
import type { Draft } from '../../data/spec.ts';
import { asSpec } from '../../entry/entry.ts';
import { merged, mergeParts } from '../../entry/merge.ts';
import { type Unread, withUnread } from '../../schema-form/context.ts';
import { changedFields, meaningOf, newDraft, withFields } from './draft.ts';
import { baseOf, patchOf } from './override-patch.ts';

/** One agent while it is open: its stored state, its draft and the requests that save it. */
export type Editing = {
  /** Identifies the opened editor. It does not change when a new agent is stored. */
  key: number;
  isNew: boolean;
  /** The stored agent, or the initial values of a new one. */
  start: Draft;
  /** Undefined if the agent has no metadata. */
  meta: Meta | undefined;
  /** Known values without the overrides. */
  base: JsonObject;
  draft: Draft;
  /** Texts that are not valid JSON yet, by field. They prevent saving. */
  unread: Unread;
};

let keys = 0;

const nextKey = (): number => {
  keys += 1;
  return keys;
};

/** @param copied initial values from another agent */
export const startNew = (localKind: string, copied: Draft = newDraft(localKind)): Editing => ({
  ...opened(copied, undefined),
  isNew: true,
  base: {},
});

export const overridesOf = ({ meta }: Pick<Editing, 'meta'>): JsonObject => meta?.user_overrides ?? {};

export const opened = (spec: JsonObject, meta: Meta | undefined): Editing => ({
  key: nextKey(),
  isNew: false,
  start: asSpec(spec),
  meta,
  base: baseOf(spec, overridesOf({ meta })),
  draft: asSpec(spec),
  unread: {},
});

/** The state after a write, without unsaved changes. */
export const reopened = (before: Editing, spec: JsonObject, meta: Meta | undefined): Editing => {
  const { key, start: stored, base } = before;
  const overrides = overridesOf(before);
  return {
    ...opened(spec, meta),
    key,
    base: baseOf(spec, overridesOf({ meta }), { stored, overrides, base }),
  };
};

/** The state after a change elsewhere: unsaved changes are kept, all other fields are updated. */
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

/** @param text typed text that is not valid JSON; undefined once it is valid or removed */
export const typedAt = (editing: Editing, field: string, text: string | undefined): Editing => ({
  ...editing,
  unread: withUnread(editing.unread, field, text),
});

/** Replaces the draft and discards unread texts. */
export const replacedBy = (editing: Editing, draft: Draft): Editing => ({ ...editing, draft, unread: {} });

export const isDirty = ({ start, draft, unread }: Editing): boolean =>
  Object.keys(unread).length > 0 || changedFields(start, draft).length > 0;

/** Undefined for a new agent. */
export const sourceOf = ({ meta, isNew }: Editing): SourceState | undefined =>
  isNew ? undefined : sourceState(meta);

/** Whether saving writes overrides, as for built-in agents, instead of the whole spec. */
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

/** Saving a user-defined agent as a whole removes its overrides. */
export const dropsOverrides = (editing: Editing): boolean =>
  sourceOf(editing) === 'user' && Object.keys(overridesOf(editing)).length > 0;

const entryOf = (id: string): string => `/v1/config/agents/${encodeURIComponent(id)}`;

const overridesRequest = (editing: Editing, localKind: string): Pick<Outgoing, 'path' | 'body'> => ({
  path: `${entryOf(editing.draft.id)}/overrides`,
  body: overridePatch(editing, localKind),
});

export const saveRequest = (editing: Editing, localKind: string): Outgoing => {
  const { draft: body } = editing;
  if (editing.isNew) return { method: 'POST', path: '/v1/config/agents', body };
  if (!isPatched(editing)) return { method: 'PUT', path: entryOf(body.id), body };
  return { method: 'PATCH', ...overridesRequest(editing, localKind) };
};

/** The request that validates the draft without storing it. */
export const validateRequest = (editing: Editing, localKind: string): Outgoing => {
  const { draft: body, isNew } = editing;
  if (isPatched(editing)) return { method: 'POST', ...overridesRequest(editing, localKind) };
  const query = isNew ? undefined : { id: body.id };
  return { method: 'POST', path: '/v1/config/agents/validate', ...(query && { query }), body };
};
