import { useCallback, useState } from 'react';
import { statusOf } from '../data/error.ts';
import { anyObject, type JsonObject } from '../data/guard.ts';
import { Meta } from '../data/meta.ts';
import { pathOf, send } from '../data/request.ts';
import { useWrite } from '../data/use-write.ts';
import { say } from '../i18n/locale.ts';
import { toastError } from '../shell/toasts.ts';
import {
  asSpec,
  type EntryKind,
  type Errors,
  ID,
  isDirty,
  NO_ERRORS,
  type Opened,
  revisionOf,
  type Spec,
  saidOf,
  withFields,
  withoutFields,
} from './entry.ts';
import { texts } from './texts.ts';

/**
 * The draft of an entry and the way to store it: checked first, never over somebody else's change, and what the service
 * refuses is told at the field that it is about.
 */

export type EntryRules = EntryKind & {
  /** What the console itself sees to be wrong, in the order of the fields; the id has been looked at. */
  check: (draft: Spec) => Errors;
  /** What is sent for a draft. */
  bodyOf?: (draft: Spec) => JsonObject;
  /** Fields that the form has, for what the service says. */
  fields: readonly string[];
};

/** Somebody else has changed it since it was opened. */
export type Conflict = { theirs: Spec | undefined; meta: Meta | undefined };

const metaPath = ({ namespace }: EntryKind, id: string): string => pathOf`/v1/config/${namespace}/${id}/meta`;

/** Undefined: there is no such entry. */
const missing = (error: unknown): undefined => {
  if (statusOf(error) === 404) return undefined;
  throw error;
};

const findConflict = async (
  kind: EntryKind,
  { isNew, start, meta }: Opened,
): Promise<Conflict | undefined> => {
  if (isNew || !meta) return undefined;
  const now = await send({ path: metaPath(kind, start.id) }, Meta).catch(missing);
  if (now && revisionOf(now) === revisionOf(meta)) return undefined;
  const path = pathOf`/v1/config/${kind.namespace}/${start.id}`;
  const theirs = now && (await send({ path }, anyObject).catch(missing));
  return { theirs: theirs && asSpec(theirs), meta: now };
};

const idErrors = ({ isNew }: Opened, { id }: Spec): Errors => {
  if (!isNew) return NO_ERRORS;
  if (id === '') return new Map([['id', say(texts, 'problem.required')]]);
  return ID.test(id) ? NO_ERRORS : new Map([['id', say(texts, 'problem.id')]]);
};

export const useEntry = (opening: Opened, rules: EntryRules, onSaved: (id: string) => void) => {
  const [opened, setOpened] = useState(opening);
  const [draft, setDraft] = useState(opening.start);
  const [errors, setErrors] = useState<Errors>(NO_ERRORS);
  const [conflict, setConflict] = useState<Conflict>();
  const [busy, setBusy] = useState(false);
  const write = useWrite({ quietErrors: true });
  const { namespace, entity } = rules;

  const set = useCallback((fields: JsonObject): void => {
    setDraft((before) => withFields(before, fields));
    setErrors((before) => withoutFields(before, Object.keys(fields)));
  }, []);

  const put = async (isNew: boolean, spec: Spec): Promise<void> => {
    const body = rules.bodyOf?.(spec) ?? spec;
    const outgoing = isNew
      ? ({ method: 'POST', path: pathOf`/v1/config/${namespace}`, done: 'created' } as const)
      : ({ method: 'PUT', path: pathOf`/v1/config/${namespace}/${spec.id}`, done: 'saved' } as const);
    await write.mutateAsync({ ...outgoing, body, namespace, entity, id: spec.id });
  };

  /** Where the form stays open, the next write is held against what this one has made of it. */
  const readRevision = async (spec: Spec): Promise<void> => {
    const meta = await send({ path: metaPath(rules, spec.id) }, Meta).catch(() => undefined);
    setOpened((before) => (before.start === spec ? { ...before, meta } : before));
  };

  /** @returns whether it is stored */
  const attempt = async (work: () => Promise<boolean>): Promise<boolean> => {
    setBusy(true);
    try {
      return await work();
    } catch (error) {
      const said = error instanceof Error ? error.message : '';
      const found = statusOf(error) === undefined ? NO_ERRORS : saidOf(said, ['id', ...rules.fields]);
      setErrors(found);
      if (found.size === 0 || found.has('')) toastError(error);
      return false;
    } finally {
      setBusy(false);
    }
  };

  const store = (from: Opened, spec: Spec): Promise<boolean> =>
    attempt(async () => {
      const found = new Map([...idErrors(from, spec), ...rules.check(spec)]);
      setErrors(found);
      if (found.size > 0) return false;
      const clash = await findConflict(rules, from);
      if (clash) {
        setConflict(clash);
        return false;
      }
      await put(from.isNew, spec);
      setOpened({ isNew: false, start: spec, meta: undefined });
      onSaved(spec.id);
      void readRevision(spec);
      return true;
    });

  const openAs = (theirs: Spec | undefined, meta: Meta | undefined): Opened =>
    theirs ? { isNew: false, start: theirs, meta } : { isNew: true, start: opened.start, meta: undefined };

  return {
    opened,
    draft,
    set,
    errors,
    busy,
    isDirty: isDirty(opened, draft),
    save: () => store(opened, draft),
    conflict,
    leaveConflict: () => setConflict(undefined),
    /** What came of the conflict is what is stored. */
    merge: (merged: Spec): void => {
      const next = openAs(conflict?.theirs, conflict?.meta);
      setConflict(undefined);
      setOpened(next);
      setDraft(merged);
      void store(next, merged);
    },
    takeTheirs: (): void => {
      if (!conflict?.theirs) return;
      setOpened(openAs(conflict.theirs, conflict.meta));
      setDraft(conflict.theirs);
      setErrors(NO_ERRORS);
      setConflict(undefined);
    },
  };
};

export type EntryForm = ReturnType<typeof useEntry>;
