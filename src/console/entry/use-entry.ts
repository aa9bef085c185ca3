import { useCallback, useState } from 'react';
import { statusOf } from '../data/error.ts';
import { anyObject, type JsonObject } from '../data/guard.ts';
import { Meta } from '../data/meta.ts';
import { pathOf, send } from '../data/request.ts';
import { toastError } from '../feedback/toasts.ts';
import { useWrite } from '../feedback/use-write.ts';
import { say } from '../i18n/locale.ts';
import { problemsIn } from '../schema-form/check.ts';
import { type Unread, withUnread } from '../schema-form/context.ts';
import { expressionsReady } from '../schema-form/expressions.ts';
import { changesIn } from '../schema-form/hints.ts';
import { useProblemTexts } from '../schema-form/SchemaForm.tsx';
import type { Schema } from '../schema-form/schema.ts';
import {
  asSpec,
  type EntryKind,
  type Errors,
  ID,
  isDirty,
  isWebAddress,
  NO_ERRORS,
  type Opened,
  objectOf,
  revisionOf,
  type Spec,
  saidOf,
  withFields,
  withoutFields,
  writtenOf,
} from './entry.ts';
import { texts } from './texts.ts';

/**
 * The draft of an entry and how it is stored. The form validates it first, never overwrites a concurrent change, and
 * shows each problem that the service reports at its field.
 */

export type Found = readonly [field: string, text: string];

export type EntryRules = EntryKind & {
  /** The schema of the entry; its fields are those to which messages of the service are assigned. */
  schema: Schema;
  /** Rules that the schema does not express. */
  check?: ((draft: Spec) => readonly Found[]) | undefined;
  /** The request body for a draft. */
  bodyOf?: ((draft: JsonObject) => JsonObject) | undefined;
};

/** A concurrent change of the entry since it was opened. */
export type Conflict = { theirs: Spec | undefined; meta: Meta | undefined };

const idProblem = ({ isNew }: Opened, { id }: Spec): Found[] => {
  if (!isNew) return [];
  if (id === '') return [['id', say(texts, 'problem.required')]];
  return ID.test(id) ? [] : [['id', say(texts, 'problem.id')]];
};

/** Addresses of services are addresses of the web, which the format `uri` does not express. */
const addressProblems = ({ properties }: Schema, draft: Spec): Found[] =>
  Object.entries(objectOf(properties)).flatMap(([field, property]): Found[] => {
    const value = draft[field];
    const isAddress = objectOf(property).format === 'uri' && typeof value === 'string' && value !== '';
    return isAddress && !isWebAddress(value) ? [[field, say(texts, 'problem.url')]] : [];
  });

/** The first problem of each field. Null removes a value, and the service judges fields that the schema lacks. */
const useCheck = ({ schema, check, bodyOf = writtenOf }: EntryRules) => {
  const textOf = useProblemTexts();
  return (opened: Opened, draft: Spec, unread: Unread): Errors => {
    const given = Object.fromEntries(Object.entries(bodyOf(draft)).filter(([, value]) => value !== null));
    const shape = problemsIn(schema, given).filter(({ path }) => path !== '');
    const found: Found[] = [
      ...idProblem(opened, draft),
      ...Object.keys(unread).map((path): Found => [path, textOf({ path, key: 'problem.json' })]),
      ...(check?.(draft) ?? []),
      ...addressProblems(schema, draft),
      ...shape.map((problem): Found => [problem.path, textOf(problem)]),
    ];
    return new Map(found.reverse());
  };
};

const metaPath = ({ namespace }: EntryKind, id: string): string => pathOf`/v1/config/${namespace}/${id}/meta`;

/** Maps a 404 to undefined. */
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

/** Requests of a form: whether one is in progress, and the problems that the last one reported. */
const useAttempts = (fields: readonly string[]) => {
  const [errors, setErrors] = useState<Errors>(NO_ERRORS);
  const [busy, setBusy] = useState(false);
  /** @returns whether the entry was stored */
  const attempt = async (work: () => Promise<boolean>): Promise<boolean> => {
    setBusy(true);
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : '';
      const found = statusOf(error) === undefined ? NO_ERRORS : saidOf(reason, fields);
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
const usePut = ({ namespace, entity, bodyOf = writtenOf }: EntryRules) => {
  const write = useWrite({ quietErrors: true });
  return async (isNew: boolean, spec: Spec): Promise<void> => {
    const outgoing = isNew
      ? ({ method: 'POST', path: pathOf`/v1/config/${namespace}`, done: 'created' } as const)
      : ({ method: 'PUT', path: pathOf`/v1/config/${namespace}/${spec.id}`, done: 'saved' } as const);
    await write.mutateAsync({ ...outgoing, body: bodyOf(spec), namespace, entity, id: spec.id });
  };
};

/** The draft, the version that it started from, and texts in it that are not valid JSON yet. */
const useDraft = (opening: Opened) => {
  const [opened, setOpened] = useState(opening);
  const [draft, setDraft] = useState(opening.copied ?? opening.start);
  const [unread, setUnread] = useState<Unread>({});
  const onUnread = useCallback(
    (path: string, text: string | undefined): void => setUnread((before) => withUnread(before, path, text)),
    [],
  );
  const open = (next: Opened, spec: Spec): void => {
    setOpened(next);
    setDraft(spec);
    setUnread({});
  };
  return { opened, setOpened, draft, setDraft, unread, onUnread, open };
};

export const useEntry = (opening: Opened, rules: EntryRules) => {
  const { opened, setOpened, draft, setDraft, unread, onUnread, open } = useDraft(opening);
  const [conflict, setConflict] = useState<Conflict>();
  const { errors, setErrors, busy, attempt } = useAttempts(Object.keys(objectOf(rules.schema.properties)));
  const check = useCheck(rules);
  const put = usePut(rules);

  const set = (fields: JsonObject): void => {
    setDraft((before) => withFields(before, fields));
    setErrors((before) => withoutFields(before, Object.keys(fields)));
  };

  /** Reads the new revision, so that the next save of a form that stays open is compared with it. */
  const readRevision = async (spec: Spec): Promise<void> => {
    const meta = await send({ path: metaPath(rules, spec.id) }, Meta).catch(() => undefined);
    setOpened((before) => (before.start === spec ? { ...before, meta } : before));
  };

  const store = (from: Opened, spec: Spec): Promise<boolean> =>
    attempt(async () => {
      await expressionsReady();
      const found = check(from, spec, unread);
      setErrors(found);
      if (found.size > 0) return false;
      const clash = await findConflict(rules, from);
      if (clash) {
        setConflict(clash);
        return false;
      }
      await put(from.isNew, spec);
      setOpened({ isNew: false, start: spec, meta: undefined });
      void readRevision(spec);
      return true;
    });

  const openAs = (theirs: Spec | undefined, meta: Meta | undefined): Opened =>
    theirs ? { isNew: false, start: theirs, meta } : { isNew: true, start: opened.start, meta: undefined };

  return {
    opened,
    draft,
    set,
    /** Replaces the whole draft. */
    replace: (next: JsonObject): void => set(changesIn(draft, next)),
    unread,
    onUnread,
    errors,
    busy,
    isDirty: isDirty(opened, draft, unread),
    save: () => store(opened, draft),
    conflict,
    leaveConflict: () => setConflict(undefined),
    /** Stores the result of the merge. */
    merge: (merged: Spec): void => {
      const next = openAs(conflict?.theirs, conflict?.meta);
      setConflict(undefined);
      open(next, merged);
      void store(next, merged);
    },
    takeTheirs: (): void => {
      if (!conflict?.theirs) return;
      open(openAs(conflict.theirs, conflict.meta), conflict.theirs);
      setErrors(NO_ERRORS);
      setConflict(undefined);
    },
  };
};

export type EntryForm = ReturnType<typeof useEntry>;
