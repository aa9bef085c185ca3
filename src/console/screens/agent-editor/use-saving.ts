import { useState } from 'react';
import { anyObject, anything, type JsonObject } from '../../data/guard.ts';
import type { Meta } from '../../data/meta.ts';
import { changed } from '../../data/records.ts';
import { send } from '../../data/request.ts';
import type { Draft } from '../../data/spec.ts';
import { type Errors, NO_ERRORS, revisionOf, withoutFields } from '../../entry/entry.ts';
import { toast, toastError } from '../../feedback/toasts.ts';
import { useWrite } from '../../feedback/use-write.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useProblemTexts } from '../../schema-form/SchemaForm.tsx';
import { type Editing, isPatched, overridePatch, reopened, saveRequest, validateRequest } from './editing.ts';
import { keepDraft } from './kept-draft.ts';
import { type CheckContext, fieldErrors, type Problem, problemsOf } from './problems.ts';
import { texts } from './texts.ts';
import { type Opening, readMeta, readSpec } from './use-opened-agent.ts';

/**
 * Saves and validates an agent. It checks the draft first, assigns each problem to its field, and never overwrites a
 * concurrent change.
 */

/** A concurrent change since the agent was opened. `spec` is undefined if the agent was deleted. */
type Conflict = { spec: JsonObject | undefined; meta: Meta | undefined };

export type SavingContext = Omit<CheckContext, 'isNew'> & {
  /** Opens the tab of a field and focuses it. */
  show(field: string): void;
};

const messageIn = (error: unknown): string => (error instanceof Error ? error.message : '');

const findConflict = async (editing: Editing): Promise<Conflict | undefined> => {
  if (editing.isNew || !editing.meta) return undefined;
  const meta = await readMeta(editing.start.id);
  if (revisionOf(meta) === revisionOf(editing.meta)) return undefined;
  return { spec: meta && (await readSpec(editing.start.id)), meta };
};

const useErrors = ({ show, ...context }: SavingContext) => {
  const t = useTexts(texts);
  const schemaText = useProblemTexts();
  const textOf = (problem: Problem): string => {
    const { key } = problem;
    return key === 'problem.id' || key === 'problem.idTaken' || key === 'problem.tools'
      ? t(key)
      : schemaText({ ...problem, key });
  };
  const [errors, setErrors] = useState(NO_ERRORS);
  const showFirst = (found: Errors): void => {
    setErrors(found);
    const first = [...found.keys()].find((field) => field !== '');
    if (first !== undefined) show(first);
  };
  return {
    errors,
    forget: (fields: readonly string[]) => setErrors((before) => withoutFields(before, fields)),
    clear: () => setErrors(NO_ERRORS),
    /** Shows the problems of a rejected request. */
    refused: (error: unknown) => {
      showFirst(fieldErrors(messageIn(error)));
      toastError(error);
    },
    /** @returns whether the console found no problem */
    check: ({ draft, isNew, unread }: Editing): boolean => {
      const problems: Problem[] = [
        ...problemsOf(draft, { ...context, isNew }),
        ...Object.keys(unread).map((path) => ({ path, key: 'problem.json' as const })),
      ];
      const found = new Map(problems.map((problem) => [problem.path, textOf(problem)]));
      showFirst(found);
      if (found.size > 0) toast('error', t('problems', { count: found.size }));
      return found.size === 0;
    },
  };
};

/** Stores the draft and reads the result. */
const usePut = (opening: Opening, localKind: string) => {
  const write = useWrite({ quietErrors: true });
  return async (editing: Editing): Promise<void> => {
    const { id } = editing.draft;
    const outgoing = saveRequest(editing, localKind);
    const done = editing.isNew ? 'created' : 'saved';
    await write.mutateAsync({ ...outgoing, namespace: 'agents', entity: 'entity.agent', id, done });
    const [spec, meta] = await Promise.all([readSpec(id), readMeta(id)]);
    keepDraft(editing.isNew ? undefined : id, undefined);
    opening.set((before) => reopened(before, spec, meta));
  };
};

/** Requests of the editor, one at a time. */
const useAttempts = (onRefused: (error: unknown) => void) => {
  const [busy, setBusy] = useState(false);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      onRefused(error);
    } finally {
      setBusy(false);
    }
  };
  return { busy, attempt };
};

export const useSaving = (opening: Opening, context: SavingContext) => {
  const t = useTexts(texts);
  const checks = useErrors(context);
  const [conflict, setConflict] = useState<Conflict>();
  const { localKind } = context;
  const { busy, attempt } = useAttempts(checks.refused);
  const put = usePut(opening, localKind);

  /** @param editing the state to write, which may not have been rendered yet */
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
    /** Saves the result of the merge. */
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
    /** Continues with the other version. */
    takeTheirs: () => {
      const theirs = conflict;
      setConflict(undefined);
      checks.clear();
      if (theirs?.spec) opening.set((before) => reopened(before, theirs.spec ?? {}, theirs.meta));
    },
    leaveConflict: () => setConflict(undefined),
    /** Sends a write other than that of the draft, for example of one field, and reads the result. */
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
