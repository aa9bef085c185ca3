import { useEffect } from 'react';
import { anyObject } from '../../data/guard.ts';
import { send } from '../../data/request.ts';
import { EntryGuards, Refused } from '../../entry/EntryEditor.tsx';
import type { Opened } from '../../entry/entry.ts';
import { toast } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import css from './AgentEditor.module.css';
import { AgentContext, type Known, useAgentForm } from './agent-form.ts';
import { validateRequest } from './editing.ts';
import { Header } from './Header.tsx';
import { KeptOffer, useKept } from './KeptOffer.tsx';
import { SandboxPlace } from './SandboxPlace.tsx';
import { SaveBar } from './SaveBar.tsx';
import { Tabs } from './Tabs.tsx';
import texts from './texts.json' with { type: 'json' };
import { useEditorCommands } from './use-commands.ts';

/** The form of an agent in tabs, with a preview next to it. */
export const Editor = (props: { opened: Opened; known: Known; onCreated: (id: string) => void }) => {
  const t = useTexts(texts);
  const { known, onCreated } = props;
  const form = useAgentForm(props.opened, known);
  const { opened, draft, isDirty, errors } = form;
  const { isNew, start } = opened;
  const kept = useKept({ isNew, start, draft }, isDirty);
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
    <AgentContext value={{ ...known, form }}>
      <div className={css.editor}>
        <div className={css.main}>
          <Header />
          <KeptOffer kept={kept} onTake={form.reset} />
          <Refused errors={errors} />
          <Tabs />
          <SaveBar {...actions} />
        </div>
        <SandboxPlace draft={draft} storedId={isNew ? undefined : start.id} />
        <EntryGuards form={form} />
      </div>
    </AgentContext>
  );
};
