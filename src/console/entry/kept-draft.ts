import { isObject } from '../data/guard.ts';
import type { Draft } from '../data/spec.ts';
import { KEYS, readOfTab, writeOfTab } from '../data/storage.ts';

/**
 * A draft that survives a reload of its tab. A draft of a new agent without `kept` was written by another part of the
 * console, such as the assistant, and is opened immediately, whereas the user's own draft is offered.
 */
export type KeptDraft = { spec: Draft; kept?: number };

/** Kind of the edited entry. */
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

/** @param id undefined for a new entry */
export const readKept = (id: string | undefined, kind: KeptKind): KeptDraft | undefined =>
  keptFrom(readOfTab(keyOf(id, kind)));

/** @param spec undefined removes the draft */
export const keepDraft = (id: string | undefined, spec: Draft | undefined, kind: KeptKind): void => {
  const kept = spec && JSON.stringify({ spec, kept: Date.now() } satisfies KeptDraft);
  writeOfTab(keyOf(id, kind), kept ?? null);
};
