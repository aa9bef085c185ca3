import { useMemo, useRef } from 'react';
import type { Opened } from '../../entry/entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import { useCommands } from '../../shell/commands.ts';
import texts from './texts.json' with { type: 'json' };

/** Commands of the palette while an agent is open. */
export const useEditorCommands = (
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
