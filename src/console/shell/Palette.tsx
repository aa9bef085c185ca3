import { Modal } from '@mantine/core';
import { type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react';
import { KEYS, readJson, writeKey } from '../data/storage.ts';
import { useAtom } from '../data/use-atom.ts';
import { Icon } from '../design/Icon.tsx';
import { useReturnFocus } from '../design/use-return-focus.ts';
import { useTexts } from '../i18n/locale.ts';
import { useGo } from '../navigation/links.tsx';
import { screenCommands } from './commands.ts';
import { Keys } from './Keys.tsx';
import css from './Palette.module.css';
import { usePaletteItems } from './palette-items.ts';
import { type PaletteItem, type Section, search } from './palette-search.ts';
import type { Screen, ShellText } from './screen.ts';
import shellTexts from './texts.json' with { type: 'json' };

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

const SECTIONS: Readonly<Record<Section, ShellText>> = {
  recent: 'palette.recent',
  ids: 'palette.ids',
  actions: 'palette.actions',
  pages: 'palette.pages',
  items: 'palette.items',
  threads: 'nav.threads',
  runs: 'nav.runs',
};

type ResultsProps = {
  found: readonly PaletteItem[];
  at: number;
  listId: string;
  open: (item: PaletteItem) => void;
};

const Results = ({ found, at, listId, open }: ResultsProps) => {
  const t = useTexts(shellTexts);
  const sections = [...new Set(found.map(({ section }) => section))];
  useEffect(() => {
    document.getElementById(`${listId}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [listId, at]);
  if (found.length === 0) return <p className="soft center inset">{t('common.noMatch')}</p>;
  return (
    <div className={css.options} role="listbox" id={listId} aria-label={t('palette.title')}>
      {sections.map((section) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be part of a listbox.
        <div key={section} role="group" aria-label={t(SECTIONS[section])}>
          <div className="quiet inset" aria-hidden="true">
            {t(SECTIONS[section])}
          </div>
          {found.map((item, index) =>
            item.section === section ? (
              <div
                key={item.id}
                role="option"
                tabIndex={-1}
                id={`${listId}-${index}`}
                aria-selected={index === at}
                className={css.option}
                onPointerUp={() => open(item)}
              >
                <Icon name={item.icon ?? 'chevronRight'} />
                <span className="cut">{item.label}</span>
                {item.hint && <span className={`quiet cut push fixed ${css.hint}`}>{item.hint}</span>}
                {item.keys && <Keys keys={item.keys} />}
              </div>
            ) : null,
          )}
        </div>
      ))}
    </div>
  );
};

/** Focuses the input synchronously, so that keys typed immediately reach it and trigger no shortcuts. */
const focusAtOnce = (input: HTMLInputElement | null): void => input?.focus({ preventScroll: true });

export const Palette = (props: { screens: readonly Screen[]; onHelp: () => void; onClose: () => void }) => {
  useReturnFocus();
  const t = useTexts(shellTexts);
  const go = useGo();
  const listId = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const recent = useMemo(readRecent, []);
  const ofScreen = useAtom(screenCommands);
  const items = usePaletteItems(props.screens, query, props.onHelp);
  const found = search([...ofScreen, ...items], query, recent);
  const open = (item: PaletteItem | undefined, apart = false): void => {
    if (!item) return;
    remember(item.id);
    if (apart && !item.run) {
      window.open(item.id, '_blank', 'noopener');
      return;
    }
    props.onClose();
    if (item.run) item.run();
    else go(item.id);
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
    <Modal.Root opened onClose={props.onClose} size={640}>
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
