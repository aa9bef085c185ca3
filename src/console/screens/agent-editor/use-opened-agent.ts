import { useEffect, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { anyObject } from '../../data/guard.ts';
import { Meta } from '../../data/meta.ts';
import { pathOf, send } from '../../data/request.ts';
import { copyOf } from './draft.ts';
import { type Editing, opened, startNew } from './editing.ts';
import { readKept } from './kept-draft.ts';

/** Opens an agent once. Later reads never overwrite typed input. */

export const readSpec = (id: string, signal?: AbortSignal) =>
  send({ path: pathOf`/v1/config/agents/${id}`, signal }, anyObject);

/** Undefined if the agent has no metadata. */
export const readMeta = (id: string, signal?: AbortSignal): Promise<Meta | undefined> =>
  send({ path: pathOf`/v1/config/agents/${id}/meta`, signal }, Meta).catch((error: unknown) => {
    if (statusOf(error) === 404) return undefined;
    throw error;
  });

export type Wanted = {
  /** Undefined for a new agent. */
  id: string | undefined;
  /** The agent that a new one is copied from. */
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

/** Contains the id, so that one agent is never shown as another. */
type Opened = { id: string | undefined; editing?: Editing; error?: unknown };

const isFor = (state: Opened | undefined, id: string | undefined): boolean =>
  state !== undefined &&
  (state.id === id || (state.editing !== undefined && !state.editing.isNew && state.editing.start.id === id));

export type Opening = {
  editing: Editing | undefined;
  error: unknown;
  /** Like `setState`; has no effect after another agent was opened. */
  set(change: (before: Editing) => Editing): void;
  retry(): void;
};

/** @param wanted undefined while unknown */
export const useOpened = (wanted: Wanted | undefined): Opening => {
  const [state, setState] = useState<Opened>();
  const { id, from, localKind } = wanted ?? {};
  // An error counts as a result until the user retries.
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
  // A new agent has received its id, and the address has changed.
  if (isCurrent && state && state.id !== id) setState({ ...state, id });
  return {
    editing: isCurrent ? state?.editing : undefined,
    error: isCurrent ? state?.error : undefined,
    set: (change) =>
      setState((before) => (before?.editing ? { id: before.id, editing: change(before.editing) } : before)),
    retry: () => setState(undefined),
  };
};
