import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react';
import { askForToken } from '../data/session.ts';
import { KEYS, readJson, writeKey } from '../data/storage.ts';
import { useAtom } from '../data/use-atom.ts';
import { useReturnFocus } from '../design/use-return-focus.ts';
import { locale, setLocale, useTexts } from '../i18n/locale.ts';
import { type Command, screenCommands } from './commands.ts';
import { useGo } from './links.tsx';
import css from './Palette.module.css';
import { idItems, pageItems, readItems } from './palette-items.ts';
import { type PaletteItem, search } from './palette-search.ts';
import type { Screen, ShellText } from './screen.ts';
import { isScreen } from './screen-paths.ts';
import { shellTexts } from './texts.ts';
import { cycleTheme } from './theme.ts';

const MOST_RECENT = 10;

const readRecent = (): string[] => {
  const stored = readJson(KEYS.recent);
  return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
};

const remember = (id: string): void =>
  writeKey(
    KEYS.recent,
    JSON.stringify([id, ...readRecent().filter((other) => other !== id)].slice(0, MOST_RECENT)),
  );

/** What the shell itself can do. */
const useShellCommands = (onHelp: () => void): Command[] => {
  const t = useTexts(shellTexts);
  const go = useGo();
  return useMemo(() => {
    const command = (id: string, label: ShellText, run: () => void): Command => ({
      id,
      label: t(label),
      section: 'actions',
      run,
    });
    return [
      ...(isScreen('/agents/new')
        ? [command('/agents/new', 'palette.newAgent', () => go('/agents/new'))]
        : []),
      command('theme', 'palette.theme', cycleTheme),
      command('language', 'palette.language', () => setLocale(locale.get() === 'en' ? 'zh-CN' : 'en')),
      command('token', 'palette.token', () => void askForToken('asked')),
      command('help', 'palette.help', onHelp),
    ];
  }, [t, go, onHelp]);
};

const SECTIONS = {
  recent: 'palette.recent',
  ids: 'palette.ids',
  actions: 'palette.actions',
  pages: 'palette.pages',
  items: 'palette.items',
} as const;

const useFound = (screens: readonly Screen[], query: string, commands: readonly Command[]): PaletteItem[] => {
  const t = useTexts(shellTexts);
  const { data: read = [] } = useQuery({
    queryKey: ['palette', t('palette.items')],
    queryFn: () => readItems(t),
    staleTime: 30_000,
  });
  const recent = useMemo(readRecent, []);
  return useMemo(() => {
    const all = [...idItems(query, t), ...pageItems(screens, t), ...commands, ...read];
    return search(all, query, recent);
  }, [query, t, screens, commands, read, recent]);
};

/** The option that the keys are at stays in view. */
const useInView = (id: string): void =>
  useEffect(() => {
    document.getElementById(id)?.scrollIntoView({ block: 'nearest' });
  }, [id]);

const Results = (props: {
  found: readonly PaletteItem[];
  at: number;
  listId: string;
  open: (item: PaletteItem) => void;
}) => {
  const t = useTexts(shellTexts);
  const { found, at, listId, open } = props;
  if (found.length === 0) return <p className={css.none}>{t('palette.none')}</p>;
  return (
    <div className={css.results} role="listbox" id={listId} aria-label={t('palette.title')}>
      {found.map((item, index) => (
        <div key={`${item.section}${item.id}`} role="presentation">
          {found[index - 1]?.section !== item.section && (
            <div className={css.section} role="presentation">
              {t(SECTIONS[item.section])}
            </div>
          )}
          <div
            role="option"
            tabIndex={-1}
            id={`${listId}-${index}`}
            aria-selected={index === at}
            className={css.option}
            onPointerUp={() => open(item)}
          >
            <span>{item.label}</span>
            <span>{item.hint}</span>
          </div>
        </div>
      ))}
    </div>
  );
};

/** Before the next key: whoever types at once loses no letter, and sets off nothing by it. */
const focusAtOnce = (input: HTMLInputElement | null): void => input?.focus({ preventScroll: true });

export const Palette = (props: { screens: readonly Screen[]; onHelp: () => void; onClose: () => void }) => {
  useReturnFocus();
  const t = useTexts(shellTexts);
  const go = useGo();
  const listId = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const own = useShellCommands(props.onHelp);
  const ofScreen = useAtom(screenCommands);
  const commands = useMemo(() => [...ofScreen, ...own], [ofScreen, own]);
  const found = useFound(props.screens, query, commands);
  useInView(`${listId}-${at}`);
  const open = (item: PaletteItem | undefined, apart = false): void => {
    if (!item) return;
    const command = commands.find(({ id }) => id === item.id);
    remember(item.id);
    if (apart && !command) window.open(item.id, '_blank', 'noopener');
    else {
      props.onClose();
      if (command) command.run();
      else go(item.id);
    }
  };
  const last = found.length - 1;
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Record<string, number> = {
      ArrowDown: at >= last ? 0 : at + 1,
      ArrowUp: at <= 0 ? last : at - 1,
      Home: 0,
      End: last,
    };
    const moved = moves[event.key];
    if (moved !== undefined) setAt(Math.max(0, moved));
    else if (event.key === 'Enter') open(found[at], event.metaKey || event.ctrlKey);
    else return;
    event.preventDefault();
  };
  return (
    <Modal.Root opened onClose={props.onClose} size={600}>
      <Modal.Overlay />
      <Modal.Content aria-label={t('palette.title')}>
        <input
          ref={focusAtOnce}
          className={css.input}
          data-autofocus
          role="combobox"
          aria-expanded={found.length > 0}
          aria-controls={listId}
          aria-activedescendant={found.length > 0 ? `${listId}-${at}` : undefined}
          aria-label={t('palette.placeholder')}
          placeholder={t('palette.placeholder')}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <Results found={found} at={at} listId={listId} open={open} />
        <div className="visually-hidden" aria-live="polite">
          {t('palette.results', { count: found.length })}
        </div>
      </Modal.Content>
    </Modal.Root>
  );
};
