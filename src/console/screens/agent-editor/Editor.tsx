import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { anyObject } from '../../data/guard.ts';
import { send } from '../../data/request.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { Dialog, DialogClose } from '../../design/Dialog.tsx';
import { Diff } from '../../design/Diff.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { useMedia } from '../../design/use-media.ts';
import { EntryGuards, Refused } from '../../entry/EntryEditor.tsx';
import { EntryFormContext } from '../../entry/EntryFields.tsx';
import type { Opened } from '../../entry/entry.ts';
import { KeptDraft } from '../../entry/KeptDraft.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import type { SandboxProps } from '../../sandbox/preview.ts';
import { useCommands } from '../../shell/commands.ts';
import { unmirrored } from '../audit-log/audit-event.ts';
import css from './AgentEditor.module.css';
import { AgentContext, type Known, useAgent, useAgentForm } from './agent-form.ts';
import { changedFields } from './draft.ts';
import { dropsOverrides, validateRequest } from './editing.ts';
import { FIELDS } from './fields/AgentFields.tsx';
import { Header } from './Header.tsx';
import { Tabs } from './Tabs.tsx';
import texts from './texts.json' with { type: 'json' };

/** Commands of the palette while an agent is open. */
const useEditorCommands = (
  { isNew, start: { id } }: Opened,
  actions: { save: () => void; validate: () => void },
): void => {
  const t = useTexts(texts);
  const go = useGo();
  // Commands are created once and call the latest actions.
  const current = useRef(actions);
  current.current = actions;
  const commands = useMemo(() => {
    const path = encodeURIComponent(id);
    const rows = [
      ['validate', () => current.current.validate()],
      ['save', () => current.current.save()],
      ['duplicate', () => go(`/agents/new?from=${path}`)],
      ['stats', () => go(`/agents/${path}/dashboard`)],
      ['runs', () => go(`/runs?agent=${path}`)],
    ] as const;
    return rows.slice(0, isNew ? 2 : undefined).map(([name, run]) => ({
      id: `agent.${name}`,
      label: t(name),
      hint: id,
      section: 'actions' as const,
      run,
    }));
  }, [t, go, id, isNew]);
  useCommands(commands);
};

const Sandbox = lazy(() => import('../../sandbox/Sandbox.tsx'));

/** The preview chat: next to the panels on wide windows, otherwise a sheet that can be opened. */
const SandboxPlace = (props: SandboxProps) => {
  const t = useTexts(texts);
  const isWide = useMedia('(min-width: 1280px)');
  const [isOpen, open] = useState(false);
  // Once shown, the chat stays mounted, so that the conversation survives closing it.
  const [wasShown, show] = useState(isWide);
  const isShown = isWide || isOpen;
  if (isShown && !wasShown) show(true);
  return (
    <>
      {!isShown && (
        <div className={css.sheetButton}>
          <Button small icon="threads" onClick={() => open(true)}>
            {t('sandbox')}
          </Button>
        </div>
      )}
      <div className={isWide ? css.beside : css.sheet} hidden={!isShown}>
        {!isWide && (
          <span className={css.sheetClose}>
            <IconButton icon="close" label={t('sandbox.close')} onClick={() => open(false)} />
          </span>
        )}
        {wasShown && (
          <Suspense fallback={<SkeletonRows />}>
            <Sandbox {...props} />
          </Suspense>
        )}
      </div>
    </>
  );
};

/** The state of the draft and the actions on it, always at the bottom of the editor. */
const SaveBar = ({ save, validate }: { save: () => void; validate: () => void }) => {
  const t = useTexts(texts);
  const { opened, draft, isDirty, busy, reset } = useAgent().form;
  const [isDiff, showDiff] = useState(false);
  const isUnsaved = isDirty || opened.isNew;
  const isChanged = isDirty && !opened.isNew;
  return (
    <div className={css.bar} data-save-bar>
      <p className={css.barText} aria-live="polite">
        <strong data-unsaved={isUnsaved || undefined}>{t(isUnsaved ? 'unsaved' : 'clean')}</strong>
        {isChanged && <span>{changedFields(opened.start, draft).join(', ')}</span>}
        {dropsOverrides(opened) && <span>{t('bar.drops')}</span>}
      </p>
      <div className="row push">
        {isDirty && (
          <Button tone="quiet" onClick={() => reset()}>
            {t('discard')}
          </Button>
        )}
        {isChanged && (
          <Button tone="quiet" onClick={() => showDiff(true)}>
            {t('diff')}
          </Button>
        )}
        {isUnsaved && (
          <Button onClick={validate} disabled={busy}>
            {t('validate')}
          </Button>
        )}
        <Button tone="primary" onClick={save} disabled={busy || !isUnsaved} data-save>
          {t('save')}
        </Button>
      </div>
      {isDiff && (
        <Dialog title={t('diff')} size={860} onClose={() => showDiff(false)}>
          <Diff before={unmirrored(opened.start)} after={unmirrored(draft)} />
          <DialogClose onClose={() => showDiff(false)} />
        </Dialog>
      )}
    </div>
  );
};

/** The form of an agent in tabs, with a preview next to it. */
export const Editor = (props: { opened: Opened; known: Known; onCreated: (id: string) => void }) => {
  const t = useTexts(texts);
  const { known, onCreated } = props;
  const form = useAgentForm(props.opened, known);
  const { opened, draft, errors } = form;
  const { isNew, start } = opened;
  const wasNew = props.opened.isNew;
  useEffect(() => {
    if (wasNew && !isNew) onCreated(start.id);
  }, [wasNew, isNew, start.id, onCreated]);
  const actions = {
    save: () => void form.save(),
    validate: () =>
      void form.check(async () => {
        await send(validateRequest(opened, draft, known.localKind), anyObject);
        toast('success', t('valid'));
      }),
  };
  useEditorCommands(opened, actions);
  return (
    <AgentContext value={known}>
      <EntryFormContext value={{ form, schema: known.schema, descriptor: FIELDS }}>
        <div className={css.editor}>
          <div className={css.main}>
            <Header />
            <KeptDraft kind="agent" />
            <Refused errors={errors} />
            <Tabs />
            <SaveBar {...actions} />
          </div>
          <SandboxPlace draft={draft} storedId={isNew ? undefined : start.id} />
          <EntryGuards form={form} />
        </div>
      </EntryFormContext>
    </AgentContext>
  );
};
