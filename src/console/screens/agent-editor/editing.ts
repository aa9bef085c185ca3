import type { JsonObject } from '../../data/guard.ts';
import { type SourceState, sourceState } from '../../data/meta.ts';
import { type Outgoing, pathOf } from '../../data/request.ts';
import type { Draft } from '../../data/spec.ts';
import type { Opened } from '../../entry/entry.ts';
import { patchOf } from './override-patch.ts';

/** The source of an opened agent, and the requests that save it. */

export const overridesOf = ({ meta }: Pick<Opened, 'meta'>): JsonObject => meta?.user_overrides ?? {};

/** Undefined for a new agent. */
export const sourceOf = ({ meta, isNew }: Opened): SourceState | undefined =>
  isNew ? undefined : sourceState(meta);

/** Whether saving writes overrides, as for built-in agents, instead of the whole spec. */
export const isPatched = (opened: Opened): boolean =>
  ['builtin', 'customized'].includes(sourceOf(opened) ?? '');

export const overridePatch = (opened: Opened, draft: Draft, localKind: string): JsonObject =>
  patchOf({
    stored: opened.start,
    draft,
    base: opened.meta?.base ?? {},
    overrides: overridesOf(opened),
    localKind,
  });

/** The overridden fields of a built-in agent. */
export const overriddenIn = (opened: Opened): ReadonlySet<string> =>
  new Set(isPatched(opened) ? Object.keys(overridesOf(opened)) : []);

/** Saving a user-defined agent as a whole removes its overrides. */
export const dropsOverrides = (opened: Opened): boolean =>
  sourceOf(opened) === 'user' && Object.keys(overridesOf(opened)).length > 0;

/** @returns undefined if no override would change */
export const saveRequest = (opened: Opened, draft: Draft, localKind: string): Outgoing | undefined => {
  const path = pathOf`/v1/config/agents/${draft.id}`;
  if (opened.isNew) return { method: 'POST', path: '/v1/config/agents', body: draft };
  if (!isPatched(opened)) return { method: 'PUT', path, body: draft };
  const body = overridePatch(opened, draft, localKind);
  return Object.keys(body).length > 0 ? { method: 'PATCH', path: `${path}/overrides`, body } : undefined;
};

/** The request that validates the draft without storing it. */
export const validateRequest = (opened: Opened, draft: Draft, localKind: string): Outgoing => {
  if (isPatched(opened)) {
    const body = overridePatch(opened, draft, localKind);
    return { method: 'POST', path: pathOf`/v1/config/agents/${draft.id}/overrides`, body };
  }
  const query = opened.isNew ? undefined : { id: draft.id };
  return { method: 'POST', path: '/v1/config/agents/validate', ...(query && { query }), body: draft };
};
