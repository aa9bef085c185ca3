import { useMemo, useRef } from 'react';
import { useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import { isScreen } from '../../navigation/screen-paths.ts';
import { useCommands } from '../../shell/commands.ts';
import type { Editing } from './editing.ts';
import { texts } from './texts.ts';

/** Commands of the palette while an agent is open. */
export const useEditorCommands = (
  { isNew, start: { id } }: Editing,
  actions: { save: () => void; validate: () => void },
): void => {
  const t = useTexts(texts);
  const go = useGo();
  // Commands are created once and call the latest actions.
  const current = useRef(actions);
  current.current = actions;
  const commands = useMemo(() => {
    const of = (name: string, label: string, run: () => void) => ({
      id: `agent.${name}`,
      label,
      hint: id,
      section: 'actions' as const,
      run,
    });
    const path = encodeURIComponent(id);
    const places: [name: string, label: string, href: string][] = [
      ['duplicate', t('duplicate'), `/agents/new?from=${path}`],
      ['stats', t('stats'), `/agents/${path}/dashboard`],
      ['runs', t('runs'), `/runs?agent=${path}`],
    ];
    return [
      of('validate', t('validate'), () => current.current.validate()),
      of('save', t('save'), () => current.current.save()),
      ...(isNew ? [] : places)
        .filter(([, , href]) => isScreen(href))
        .map(([name, label, href]) => of(name, label, () => go(href))),
    ];
  }, [t, go, id, isNew]);
  useCommands(commands);
};
