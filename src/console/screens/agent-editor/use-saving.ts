import { useState } from 'react';
import { anyObject, anything, type JsonObject } from '../../data/guard.ts';
import type { Meta } from '../../data/meta.ts';
import { changed } from '../../data/records.ts';
import { send } from '../../data/request.ts';
import type { Capabilities } from '../../data/resources.ts';
import { useWrite } from '../../data/use-write.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useProblemTexts } from '../../schema-form/SchemaForm.tsx';
import { toast, toastError } from '../../shell/toasts.ts';
import {
  type Editing,
  isPatched,
  overridePatch,
  reopened,
  revisionOf,
  saveRequest,
  validateRequest,
} from './editing.ts';
import { keepDraft } from './kept-draft.ts';
import type { Draft } from './panel.ts';
import { fieldErrors, problemsOf } from './problems.ts';
import { schemaProblems } from './schema-problems.ts';
import { texts } from './texts.ts';
import { type Opening, readMeta, readSpec } from './use-opened.ts';

/** Saves and validates: checks first, tells each field what is wrong with it, and never writes over somebody else. */

type Errors = ReadonlyMap<string, string>;

const NONE: Errors = new Map();

/** Somebody else has changed it since it was opened. `spec` undefined: it is gone. */
export type Conflict = { spec: JsonObject | undefined; meta: Meta | undefined };

export type SavingContext = {
  localKind: string;
  /** Ids that a new agent cannot have. */
  taken: ReadonlySet<string>;
  capabilities: Capabilities;
  /** Brings a field in front of its user. */
  show(field: string): void;
};

const messageIn = (error: unknown): string => (error instanceof Error ? error.message : '');

/** By field; all that was said of a field that has changed is gone. */
const without = (errors: Errors, fields: readonly string[]): Errors =>
  new Map(
    [...errors].filter(([field]) => !fields.some((one) => field === one || field.startsWith(`${one}.`))),
  );

const findConflict = async (editing: Editing): Promise<Conflict | undefined> => {
  if (editing.isNew || !editing.meta) return undefined;
  const meta = await readMeta(editing.start.id);
  if (revisionOf(meta) === revisionOf(editing.meta)) return undefined;
  return { spec: meta && (await readSpec(editing.start.id)), meta };
};

const useErrors = ({ localKind, taken, capabilities, show }: SavingContext) => {
  const t = useTexts(texts);
  const textOf = useProblemTexts();
  const [errors, setErrors] = useState<Errors>(NONE);
  const showFirst = (found: Errors): void => {
    setErrors(found);
    const first = [...found.keys()].find((field) => field !== '');
    if (first !== undefined) show(first);
  };
  return {
    errors,
    forget: (fields: readonly string[]) => setErrors((before) => without(before, fields)),
    clear: () => setErrors(NONE),
    /** What the service refuses. */
    refused: (error: unknown) => {
      showFirst(fieldErrors(messageIn(error)));
      toastError(error);
    },
    /** @returns whether there is nothing that the console itself sees */
    check: ({ draft, isNew, unread }: Editing): boolean => {
      const found = new Map(
        problemsOf(draft, { localKind, isNew, taken }).map(({ field, key }) => [field, t(key)]),
      );
      for (const problem of schemaProblems(draft, capabilities, localKind))
        found.set(problem.path, textOf(problem));
      for (const path of Object.keys(unread)) found.set(path, textOf({ path, key: 'problem.json' }));
      showFirst(found);
      if (found.size > 0) toast('error', t('problems', { count: found.size }));
      return found.size === 0;
    },
  };
};

export const useSaving = (opening: Opening, context: SavingContext) => {
  const t = useTexts(texts);
  const checks = useErrors(context);
  const [busy, setBusy] = useState(false);
  const [conflict, setConflict] = useState<Conflict>();
  const write = useWrite({ quietErrors: true });
  const { localKind } = context;

  const put = async (editing: Editing): Promise<void> => {
    const { id } = editing.draft;
    const outgoing = saveRequest(editing, localKind);
    const done = editing.isNew ? 'created' : 'saved';
    await write.mutateAsync({ ...outgoing, namespace: 'agents', entity: 'entity.agent', id, done });
    const [spec, meta] = await Promise.all([readSpec(id), readMeta(id)]);
    keepDraft(editing.isNew ? undefined : id, undefined);
    opening.set((before) => reopened(before, spec, meta));
  };

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      checks.refused(error);
    } finally {
      setBusy(false);
    }
  };

  /** @param editing what is written, also where it is not shown yet */
  const save = (editing: Editing): Promise<void> =>
    attempt(async () => {
      if (!checks.check(editing)) return;
      const found = await findConflict(editing);
      if (found) setConflict(found);
      else if (!isPatched(editing) || Object.keys(overridePatch(editing, localKind)).length > 0)
        await put(editing);
    });

  const validate = (editing: Editing): Promise<void> =>
    attempt(async () => {
      if (!checks.check(editing)) return;
      await send(validateRequest(editing, localKind), anyObject);
      toast('success', t('valid'));
    });

  return {
    errors: checks.errors,
    forget: checks.forget,
    busy,
    conflict,
    save,
    validate,
    /** What came of the conflict is what is saved. */
    resolve: (draft: Draft) => {
      const theirs = conflict;
      const { editing } = opening;
      setConflict(undefined);
      if (!theirs || !editing) return;
      const base = theirs.spec
        ? { ...reopened(editing, theirs.spec, theirs.meta), draft }
        : { ...editing, meta: undefined, draft };
      opening.set(() => base);
      void save(base);
    },
    /** What they have made of it is what is edited from now on. */
    takeTheirs: () => {
      const theirs = conflict;
      setConflict(undefined);
      checks.clear();
      if (theirs?.spec) opening.set((before) => reopened(before, theirs.spec ?? {}, theirs.meta));
    },
    leaveConflict: () => setConflict(undefined),
    /** A write besides the draft, such as of one field; then what it gave is read. */
    rewrite: (
      outgoing: Parameters<typeof send>[0],
      take: (spec: JsonObject, meta: Meta | undefined) => Editing,
    ) =>
      attempt(async () => {
        await send(outgoing, anything);
        changed('agents');
        const { editing } = opening;
        if (!editing) return;
        const [spec, meta] = await Promise.all([readSpec(editing.start.id), readMeta(editing.start.id)]);
        opening.set(() => take(spec, meta));
      }),
  };
};

export type Saving = ReturnType<typeof useSaving>;
