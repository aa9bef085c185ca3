import { isObject } from '../../data/guard.ts';
import { KEYS } from '../../data/storage.ts';
import type { Draft } from './panel.ts';

/**
 * What is typed outlives a reload of its tab. A draft for a new agent that somebody else has put here, such as the
 * assistant, has no `kept`: it is taken at once, while one's own is offered.
 */
export type KeptDraft = { spec: Draft; kept?: number };

/** What drafts are of. */
export type KeptKind = 'agent' | 'skill';

const keyOf = (id: string | undefined, kind: KeptKind): string => {
  if (id !== undefined) return `${KEYS.draft}.${kind}.${id}`;
  return kind === 'agent' ? `${KEYS.draft}.new` : `${KEYS.draft}.new.${kind}`;
};

export const keptFrom = (text: string | null): KeptDraft | undefined => {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    if (!isObject(value) || !isObject(value.spec)) return undefined;
    const id = typeof value.spec.id === 'string' ? value.spec.id : '';
    return { spec: { ...value.spec, id }, ...(typeof value.kept === 'number' && { kept: value.kept }) };
  } catch {
    return undefined;
  }
};

/** @param id undefined: of a new one */
export const readKept = (id: string | undefined, kind: KeptKind = 'agent'): KeptDraft | undefined => {
  try {
    return keptFrom(sessionStorage.getItem(keyOf(id, kind)));
  } catch {
    return undefined;
  }
};

/** @param spec undefined takes it away */
export const keepDraft = (
  id: string | undefined,
  spec: Draft | undefined,
  kind: KeptKind = 'agent',
): void => {
  const key = keyOf(id, kind);
  try {
    if (spec === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify({ spec, kept: Date.now() } satisfies KeptDraft));
  } catch {
    // Nothing is kept then; what is typed stays until the page is left.
  }
};
