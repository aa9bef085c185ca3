import { type ComponentType, type KeyboardEvent, useEffect, useRef } from 'react';
import { isObject } from '../../data/guard.ts';
import { type Draft, sectionsOf } from '../../data/spec.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import css from './AgentEditor.module.css';
import { textsOf } from './draft.ts';
import type { Editing } from './editing.ts';
import { Advanced } from './fields/Advanced.tsx';
import { Basics } from './fields/Basics.tsx';
import { History } from './history/History.tsx';
import type { PanelPlace } from './panel.ts';
import { Plugins } from './plugins/Plugins.tsx';
import { countByTab, TABS, type Tab } from './problems.ts';
import { Delegates } from './references/Delegates.tsx';
import { Skills } from './references/Skills.tsx';
import { texts } from './texts.ts';
import { Tools } from './tools/Tools.tsx';

export const useTab = (): [Tab, (tab: Tab) => void] => {
  const [query, setQuery] = useQueryState();
  const tab = TABS.find((known) => known === query.tab) ?? 'basics';
  return [tab, (next) => setQuery({ tab: next === 'basics' ? undefined : next })];
};

const PANELS: Readonly<Record<Tab, ComponentType<PanelPlace>>> = {
  basics: Basics,
  tools: Tools,
  plugins: Plugins,
  delegates: Delegates,
  advanced: Advanced,
  history: History,
  skills: Skills,
};

/** The content of the selected tab. Only this one is rendered, so that its labels are unique. */
export const Panel = ({ tab, ...place }: PanelPlace & { tab: Tab }) => {
  const Content = PANELS[tab];
  return (
    <div className={css.panel} role="tabpanel" id={`panel-${tab}`} aria-labelledby={`tab-${tab}`} key={tab}>
      <Content {...place} />
    </div>
  );
};

/** The number of entries that a tab contains. */
const countIn = (tab: Tab, draft: Draft): number => {
  if (tab === 'plugins') return textsOf(draft.plugin_ids).length;
  if (tab === 'delegates') return textsOf(draft.delegates).length;
  const { skills } = sectionsOf(draft);
  return tab === 'skills' && isObject(skills) ? textsOf(skills.allowlist).length : 0;
};

const KEYS: Readonly<Record<string, (at: number) => number>> = {
  ArrowLeft: (at) => (at + TABS.length - 1) % TABS.length,
  ArrowRight: (at) => (at + 1) % TABS.length,
  Home: () => 0,
  End: () => TABS.length - 1,
};

/** Only the selected tab is in the tab order; the arrow keys select the others. */
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
  // Scrolls the selected tab into view if not all of them fit.
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
