import { useEffect, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { anyObject, type JsonObject } from '../../data/guard.ts';
import { Meta } from '../../data/meta.ts';
import { pathOf, send } from '../../data/request.ts';
import { same } from '../../data/spec.ts';
import { useWrite } from '../../data/use-write.ts';
import { type Unread, withUnread } from '../../schema-form/context.ts';
import { toastError } from '../../shell/toasts.ts';
import { revisionOf } from '../agent-editor/editing.ts';
import type { Draft } from '../agent-editor/panel.ts';
import type { Conflict } from '../agent-editor/use-saving.ts';
import { NEW_SKILL, refusedFields } from './skill.ts';

/** One skill while it is open: read once, so that nothing is put over what is typed. */

export type OpenSkill = {
  isNew: boolean;
  start: Draft;
  meta: Meta | undefined;
  draft: Draft;
  unread: Unread;
};

const asDraft = (spec: JsonObject): Draft => ({ ...spec, id: typeof spec.id === 'string' ? spec.id : '' });

const read = async (id: string, signal?: AbortSignal): Promise<OpenSkill> => {
  const [spec, meta] = await Promise.all([
    send({ path: pathOf`/v1/config/skills/${id}`, signal }, anyObject),
    send({ path: pathOf`/v1/config/skills/${id}/meta`, signal }, Meta),
  ]);
  return { isNew: false, start: asDraft(spec), meta, draft: asDraft(spec), unread: {} };
};

const BLANK: OpenSkill = { isNew: true, start: NEW_SKILL, meta: undefined, draft: NEW_SKILL, unread: {} };

type State = { id: string | undefined; open?: OpenSkill; error?: unknown };

export type Opened = {
  open: OpenSkill | undefined;
  error: unknown;
  set(change: (before: OpenSkill) => OpenSkill): void;
  retry(): void;
};

/** @param id undefined: a new one */
export const useOpened = (id: string | undefined): Opened => {
  const [state, setState] = useState<State>();
  const current = state?.id === id ? state : undefined;
  const isThere = current !== undefined;
  useEffect(() => {
    if (isThere || id === undefined) return undefined;
    const reading = new AbortController();
    read(id, reading.signal).then(
      (open) => setState({ id, open }),
      (error: unknown) => {
        if (!reading.signal.aborted) setState({ id, error });
      },
    );
    return () => reading.abort();
  }, [id, isThere]);
  return {
    open: current?.open ?? (id === undefined ? BLANK : undefined),
    error: current?.error,
    set: (change) =>
      setState((before) => ({ id, open: change((before?.id === id && before?.open) || BLANK) })),
    retry: () => setState(undefined),
  };
};

export const isDirty = ({ start, draft, unread }: OpenSkill): boolean =>
  Object.keys(unread).length > 0 || !same(start, draft);

/** Somebody else has written it since it was opened. */
const findConflict = async ({ isNew, start, meta }: OpenSkill): Promise<Conflict | undefined> => {
  if (isNew) return undefined;
  try {
    const theirs = await read(start.id);
    return revisionOf(theirs.meta) === revisionOf(meta)
      ? undefined
      : { spec: theirs.start, meta: theirs.meta };
  } catch (error) {
    if (statusOf(error) === 404) return { spec: undefined, meta: undefined };
    throw error;
  }
};

export type Errors = ReadonlyMap<string, string>;
const NONE: Errors = new Map();

/** @param check what the console itself sees is wrong */
export const useSaving = (opened: Opened, check: (open: OpenSkill) => Errors) => {
  const write = useWrite({ quietErrors: true });
  const [errors, setErrors] = useState<Errors>(NONE);
  const [conflict, setConflict] = useState<Conflict>();
  const [busy, setBusy] = useState(false);

  const put = async (open: OpenSkill): Promise<void> => {
    const { draft: body, isNew } = open;
    const { id } = body;
    const entry = { namespace: 'skills', entity: 'entity.skill', id, body } as const;
    if (isNew)
      await write.mutateAsync({ ...entry, method: 'POST', path: '/v1/config/skills', done: 'created' });
    else
      await write.mutateAsync({
        ...entry,
        method: 'PUT',
        path: pathOf`/v1/config/skills/${id}`,
        done: 'saved',
      });
    const stored = await read(id);
    opened.set(() => stored);
  };

  const save = async (open: OpenSkill): Promise<void> => {
    const found = check(open);
    setErrors(found);
    if (found.size > 0) return;
    setBusy(true);
    try {
      const other = await findConflict(open);
      if (other) setConflict(other);
      else await put(open);
    } catch (error) {
      setErrors(refusedFields(error instanceof Error ? error.message : ''));
      toastError(error);
    } finally {
      setBusy(false);
    }
  };

  return {
    errors,
    busy,
    conflict,
    save,
    change: (draft: JsonObject) => {
      setErrors(NONE);
      opened.set((before) => ({ ...before, draft: asDraft(draft) }));
    },
    onUnread: (path: string, text: string | undefined) =>
      opened.set((before) => ({ ...before, unread: withUnread(before.unread, path, text) })),
    leaveConflict: () => setConflict(undefined),
    takeTheirs: () => {
      const theirs = conflict;
      setConflict(undefined);
      setErrors(NONE);
      if (!theirs?.spec) return;
      const start = asDraft(theirs.spec);
      opened.set(() => ({ isNew: false, start, meta: theirs.meta, draft: start, unread: {} }));
    },
    resolve: (draft: Draft) => {
      const theirs = conflict;
      setConflict(undefined);
      if (!theirs) return;
      const start = theirs.spec ? asDraft(theirs.spec) : NEW_SKILL;
      const open = { isNew: theirs.spec === undefined, start, meta: theirs.meta, draft, unread: {} };
      opened.set(() => open);
      void save(open);
    },
  };
};
