import { useCallback, useState } from 'react';
import { statusOf } from '../data/error.ts';
import { anyObject, type JsonObject } from '../data/guard.ts';
import { changed } from '../data/records.ts';
import { type Outgoing, pathOf, send } from '../data/request.ts';
import { toastError } from '../feedback/toasts.ts';
import { useWrite } from '../feedback/use-write.ts';
import { withUnread } from '../schema-form/context.ts';
import { expressionsReady } from '../schema-form/expressions.ts';
import { useProblemTexts } from '../schema-form/SchemaForm.tsx';
import {
  asSpec,
  type Editing,
  type Errors,
  isDirty,
  NO_ERRORS,
  type Opened,
  objectOf,
  type Spec,
  saidOf,
  stored,
  withFields,
  withoutFields,
  writtenOf,
} from './entry.ts';
import { type EntryRules, problemsOf } from './problems.ts';
import { type Conflict, findConflict, readEntry, readMetaAfter } from './stored-entry.ts';

/**
 * The draft of an entry and how it is stored. The form validates it first, never overwrites a concurrent change, and
 * shows each problem that the service reports at its field.
 */

export type { EntryRules, Found } from './problems.ts';

/** Requests of a form, one at a time, and the problems that the last one reported. */
const useAttempts = ({ schema, fieldIn }: EntryRules) => {
  const [errors, setErrors] = useState<Errors>(NO_ERRORS);
  const [busy, setBusy] = useState(false);
  const fields = Object.keys(objectOf(schema.properties));
  /** @returns whether the work succeeded */
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    try {
      return (await work()) !== false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : '';
      const found = statusOf(error) === undefined ? NO_ERRORS : saidOf(reason, fields, fieldIn);
      setErrors(found);
      if (found.size === 0 || found.has('')) toastError(error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { errors, setErrors, busy, attempt };
};

/** Writes the entry and shows a toast. */
const usePut = ({ namespace, entity, bodyOf = writtenOf, writeOf }: EntryRules) => {
  const write = useWrite({ quietErrors: true });
  const usual = ({ isNew }: Opened, draft: Spec): Outgoing => ({
    method: isNew ? 'POST' : 'PUT',
    path: isNew ? pathOf`/v1/config/${namespace}` : pathOf`/v1/config/${namespace}/${draft.id}`,
    body: bodyOf(draft),
  });
  /** @returns the stored entry; undefined if there was nothing to store */
  return async (opened: Opened, draft: Spec): Promise<Spec | undefined> => {
    const outgoing = (writeOf ?? usual)(opened, draft);
    if (!outgoing) return undefined;
    const done = opened.isNew ? 'created' : 'saved';
    return asSpec(objectOf(await write.mutateAsync({ ...outgoing, namespace, entity, id: draft.id, done })));
  };
};

/** The draft, with the problems of its fields. */
const useDraft = (opening: Opened, rules: EntryRules) => {
  const [editing, edit] = useState<Editing>(() => ({
    opened: opening,
    draft: opening.copied ?? opening.start,
    unread: {},
  }));
  const attempts = useAttempts(rules);
  const { setErrors } = attempts;
  const { derived = asSpec } = rules;
  const onUnread = useCallback(
    (path: string, text: string | undefined): void =>
      edit((before) => ({ ...before, unread: withUnread(before.unread, path, text) })),
    [],
  );
  const set = (fields: JsonObject): void => {
    edit((before) => ({ ...before, draft: derived(withFields(before.draft, fields)) }));
    setErrors((before) => withoutFields(before, Object.keys(fields)));
  };
  const open = (opened: Opened, draft: Spec = opened.start): Editing => {
    const next = { opened, draft, unread: {} };
    edit(next);
    setErrors(NO_ERRORS);
    return next;
  };
  return { ...attempts, editing, edit, onUnread, set, open };
};

/** Writes of the entry, and the concurrent change that a save has found. */
const useStoring = (rules: EntryRules, { editing, edit, open, setErrors, attempt }: DraftState) => {
  const [conflict, setConflict] = useState<Conflict>();
  const put = usePut(rules);
  const textOf = useProblemTexts();
  const { opened } = editing;

  const passes = async (now: Editing): Promise<boolean> => {
    await expressionsReady();
    const found = problemsOf(rules, now, textOf);
    setErrors(found);
    return found.size === 0;
  };

  /** Takes the result of a write, and keeps what the user typed since it was sent. */
  const take = async (before: Opened, sent: Spec, start: Spec): Promise<void> => {
    const meta = await readMetaAfter(rules, start.id, before);
    edit((now) => stored(now, sent, { isNew: false, start, meta }, rules.read));
  };

  const store = (now: Editing): Promise<boolean> =>
    attempt(async () => {
      if (!(await passes(now))) return false;
      const clash = await findConflict(rules, now.opened);
      setConflict(clash);
      if (clash) return false;
      const start = await put(now.opened, now.draft);
      if (start) await take(now.opened, now.draft, start);
      return true;
    });

  const openTheirs = (draft?: Spec): Editing => {
    const { theirs, meta } = conflict ?? {};
    setConflict(undefined);
    return open({ isNew: !theirs, start: theirs ?? opened.start, meta }, draft);
  };

  return {
    save: () => store(editing),
    /** Does something with a draft in which the console finds no problem. */
    check: (work: () => Promise<unknown>) => attempt(async () => (await passes(editing)) && work()),
    /** Sends a write other than that of the draft. Unsaved changes are kept unless it discards them. */
    write: (outgoing: Outgoing, discards = false) =>
      attempt(async () => {
        const start = asSpec(await send(outgoing, anyObject));
        changed(rules.namespace);
        await take(opened, discards ? open(opened).draft : opened.start, start);
      }),
    /** Opens the stored entry again after a write elsewhere on the page. */
    reopen: () => attempt(async () => open(await readEntry(rules, opened.start.id))),
    conflict,
    leaveConflict: () => setConflict(undefined),
    /** Stores the result of the merge. */
    merge: (draft: Spec): void => void store(openTheirs(draft)),
    takeTheirs: (): void => void openTheirs(),
  };
};

type DraftState = ReturnType<typeof useDraft>;

export const useEntry = (opening: Opened, rules: EntryRules) => {
  const state = useDraft(opening, rules);
  const { editing, errors, busy, set, open, onUnread } = state;
  const { opened, draft, unread } = editing;
  return {
    ...editing,
    set,
    /** Replaces the draft as a whole, by default with the stored entry. */
    reset: (next?: Spec): void => void open(opened, next),
    onUnread,
    errors,
    busy,
    isDirty: isDirty(opened, draft, unread, rules.read),
    read: rules.read,
    ...useStoring(rules, state),
  };
};

export type EntryForm = ReturnType<typeof useEntry>;
