import { useEffect, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { anyObject } from '../../data/guard.ts';
import { Meta } from '../../data/meta.ts';
import { pathOf, send } from '../../data/request.ts';
import { copyOf } from './draft.ts';
import { type Editing, opened, startNew } from './editing.ts';
import { readKept } from './kept-draft.ts';

/** Opens an agent once: what is read of it later is never put over what is typed. */

export const readSpec = (id: string, signal?: AbortSignal) =>
  send({ path: pathOf`/v1/config/agents/${id}`, signal }, anyObject);

/** Undefined where the service tells nothing of it. */
export const readMeta = (id: string, signal?: AbortSignal): Promise<Meta | undefined> =>
  send({ path: pathOf`/v1/config/agents/${id}/meta`, signal }, Meta).catch((error: unknown) => {
    if (statusOf(error) === 404) return undefined;
    throw error;
  });

export type Wanted = {
  /** Undefined: a new one. */
  id: string | undefined;
  /** Which one a new one is copied from. */
  from: string | undefined;
  localKind: string;
};

const openNew = async ({ from, localKind }: Wanted, signal: AbortSignal): Promise<Editing> => {
  const handed = readKept(undefined);
  if (handed && handed.kept === undefined) {
    const blank = startNew(localKind);
    return { ...blank, draft: { ...blank.draft, ...handed.spec } };
  }
  return from ? startNew(localKind, copyOf(await readSpec(from, signal), localKind)) : startNew(localKind);
};

const open = async (wanted: Wanted, signal: AbortSignal): Promise<Editing> => {
  const { id } = wanted;
  if (id === undefined) return openNew(wanted, signal);
  const [spec, meta] = await Promise.all([readSpec(id, signal), readMeta(id, signal)]);
  return opened(spec, meta);
};

/** Whose it is, so that one agent is never shown as another. */
type Opened = { id: string | undefined; editing?: Editing; error?: unknown };

const isFor = (state: Opened | undefined, id: string | undefined): boolean =>
  state !== undefined &&
  (state.id === id || (state.editing !== undefined && !state.editing.isNew && state.editing.start.id === id));

export type Opening = {
  editing: Editing | undefined;
  error: unknown;
  /** As `setState` takes it; without effect once another agent is open. */
  set(change: (before: Editing) => Editing): void;
  retry(): void;
};

/** @param wanted undefined: not known yet */
export const useOpened = (wanted: Wanted | undefined): Opening => {
  const [state, setState] = useState<Opened>();
  const { id, from, localKind } = wanted ?? {};
  // An error is something that is there too, until it is tried again.
  const isThere = isFor(state, id);
  useEffect(() => {
    if (isThere || localKind === undefined) return undefined;
    const reading = new AbortController();
    open({ id, from, localKind }, reading.signal).then(
      (editing) => setState({ id, editing }),
      (error: unknown) => {
        if (!reading.signal.aborted) setState({ id, error });
      },
    );
    return () => reading.abort();
  }, [id, from, localKind, isThere]);
  const isCurrent = isFor(state, id);
  // A new one has got its id, and the address with it.
  if (isCurrent && state && state.id !== id) setState({ ...state, id });
  return {
    editing: isCurrent ? state?.editing : undefined,
    error: isCurrent ? state?.error : undefined,
    set: (change) =>
      setState((before) => (before?.editing ? { id: before.id, editing: change(before.editing) } : before)),
    retry: () => setState(undefined),
  };
};
