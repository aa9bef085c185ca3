import { type KeyboardEvent, useEffect, useRef } from 'react';
import { isObject } from '../../data/guard.ts';
import { sectionsOf } from '../../data/spec.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import css from './AgentEditor.module.css';
import { textsOf } from './draft.ts';
import type { Editing } from './editing.ts';
import type { Draft } from './panel.ts';
import { countByTab, TABS, type Tab } from './problems.ts';
import { texts } from './texts.ts';

export const useTab = (): [Tab, (tab: Tab) => void] => {
  const [query, setQuery] = useQueryState();
  const tab = TABS.find((known) => known === query.tab) ?? 'basics';
  return [tab, (next) => setQuery({ tab: next === 'basics' ? undefined : next })];
};

/** How much there is of what a tab is about. */
const countIn = (tab: Tab, draft: Draft): number => {
  if (tab === 'plugins') return textsOf(draft.plugin_ids).length;
  if (tab === 'delegates') return textsOf(draft.delegates).length;
  if (tab === 'skills') {
    const { skills } = sectionsOf(draft);
    return isObject(skills) ? textsOf(skills.allowlist).length : 0;
  }
  return 0;
};

const KEYS: Readonly<Record<string, (at: number) => number>> = {
  ArrowLeft: (at) => (at + TABS.length - 1) % TABS.length,
  ArrowRight: (at) => (at + 1) % TABS.length,
  Home: () => 0,
  End: () => TABS.length - 1,
};

/** One of them is reached by Tab; the arrows lead to the others. */
export const TabList = (props: {
  tab: Tab;
  editing: Editing;
  errors: ReadonlyMap<string, string>;
  onChange: (tab: Tab) => void;
}) => {
  const t = useTexts(texts);
  const problems = countByTab([...props.errors.keys()].filter((field) => field !== ''));
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const next = TABS[KEYS[event.key]?.(TABS.indexOf(props.tab)) ?? -1];
    if (next === undefined) return;
    event.preventDefault();
    props.onChange(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  const list = useRef<HTMLDivElement>(null);
  // Where there is no room for all, the one that is open is seen whole.
  useEffect(() => {
    const chosen = document.getElementById(`tab-${props.tab}`);
    if (!list.current || !chosen) return;
    list.current.scrollLeft = chosen.offsetLeft - (list.current.clientWidth - chosen.offsetWidth) / 2;
  }, [props.tab]);
  return (
    <div className={css.tabs} role="tablist" aria-label={t('tabs')} ref={list}>
      {TABS.map((tab) => {
        const [wrong, count] = [problems.get(tab), countIn(tab, props.editing.draft)];
        return (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`tab-${tab}`}
            aria-controls={tab === props.tab ? `panel-${tab}` : undefined}
            aria-selected={tab === props.tab}
            tabIndex={tab === props.tab ? 0 : -1}
            onClick={() => props.onChange(tab)}
            onKeyDown={onKeyDown}
          >
            {t(`tab.${tab}`)}
            {(wrong ?? count) > 0 && (
              <span className={css.badge} data-wrong={wrong !== undefined || undefined} aria-hidden="true">
                {wrong ?? count}
              </span>
            )}
          </button>
        );
      })}
    </div>
  );
};
