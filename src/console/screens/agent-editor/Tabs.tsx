import { type ComponentType, type KeyboardEvent, lazy, Suspense, useEffect, useRef, useState } from 'react';
import { type Draft, sectionOf } from '../../data/spec.ts';
import { SkeletonRows } from '../../design/Notice.tsx';
import { focusFirst, useReported } from '../../entry/EntryEditor.tsx';
import { EntryFields } from '../../entry/EntryFields.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import css from './AgentEditor.module.css';
import { useAgent } from './agent-form.ts';
import { textsOf } from './draft.ts';
import { Basics } from './fields/Basics.tsx';
import { countByTab, TABS, type Tab, tabOf } from './problems.ts';
import texts from './texts.json' with { type: 'json' };

/** The tabs of the editor. Only the content of the selected one is rendered, so that its labels are unique. */

const Plugins = () => (
  <>
    <EntryFields fields={['plugin_ids']} />
    <EntryFields fields={['active_hook_filter']} />
  </>
);

const PANELS: Readonly<Record<Tab, ComponentType>> = {
  basics: Basics,
  tools: lazy(() => import('./tools/Tools.tsx')),
  plugins: Plugins,
  delegates: () => <EntryFields fields={['delegates']} />,
  advanced: lazy(() => import('./fields/Advanced.tsx')),
  history: lazy(() => import('./history/History.tsx')),
  skills: lazy(() => import('./references/Skills.tsx')),
  connect: lazy(() => import('./connect/ConnectTo.tsx').then(({ Connect }) => ({ default: Connect }))),
};

/** The number of entries that a tab contains. */
const countIn = (tab: Tab, draft: Draft): number => {
  if (tab === 'plugins') return textsOf(draft.plugin_ids).length;
  if (tab === 'delegates') return textsOf(draft.delegates).length;
  return tab === 'skills' ? textsOf(sectionOf(draft, 'skills').allowlist).length : 0;
};

const KEYS: Readonly<Record<string, (at: number) => number>> = {
  ArrowLeft: (at) => (at + TABS.length - 1) % TABS.length,
  ArrowRight: (at) => (at + 1) % TABS.length,
  Home: () => 0,
  End: () => TABS.length - 1,
};

type ListProps = { selected: Tab; onSelect: (tab: Tab) => void };

/** Only the selected tab is in the tab order; the arrow keys select the others. */
const TabList = ({ selected, onSelect }: ListProps) => {
  const t = useTexts(texts);
  const { draft, errors } = useAgent().form;
  const problems = countByTab([...errors.keys()].filter((field) => field !== ''));
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const next = TABS[KEYS[event.key]?.(TABS.indexOf(selected)) ?? -1];
    if (next === undefined) return;
    event.preventDefault();
    onSelect(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  const list = useRef<HTMLDivElement>(null);
  // Scrolls the selected tab into view if not all of them fit.
  useEffect(() => {
    const chosen = document.getElementById(`tab-${selected}`);
    if (!list.current || !chosen) return;
    list.current.scrollLeft = chosen.offsetLeft - (list.current.clientWidth - chosen.offsetWidth) / 2;
  }, [selected]);
  return (
    <div className={css.tabs} role="tablist" aria-label={t('tabs')} ref={list}>
      {TABS.map((tab) => {
        const [wrong, count] = [problems.get(tab), countIn(tab, draft)];
        return (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`tab-${tab}`}
            aria-controls={tab === selected ? `panel-${tab}` : undefined}
            aria-selected={tab === selected}
            tabIndex={tab === selected ? 0 : -1}
            onClick={() => onSelect(tab)}
            onKeyDown={onKeyDown}
          >
            {t(`tab.${tab}`)}
            {(wrong ?? count) > 0 && (
              <span
                className="badge tint"
                data-tone={wrong === undefined ? undefined : 'error'}
                aria-hidden="true"
              >
                {wrong ?? count}
              </span>
            )}
          </button>
        );
      })}
    </div>
  );
};

/** Focuses the first invalid field of the panel, once the panel is rendered after a failed attempt to save. */
const FirstError = ({ of, onDone }: { of: string; onDone: () => void }) => {
  useEffect(() => {
    focusFirst(document.getElementById(of));
    onDone();
  }, [of, onDone]);
  return null;
};

const nameOf = (tab: Tab) => (tab === 'basics' ? undefined : tab);

export const Tabs = () => {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const { errors } = useAgent().form;
  const [failed, setFailed] = useState<Tab>();
  const tab = TABS.find((known) => known === query.tab) ?? 'basics';
  useReported(errors, () => {
    const fields = [...errors.keys()].filter((field) => field !== '');
    const [first] = fields;
    if (first === undefined) return;
    toast('error', t('problems', { count: fields.length }));
    const [, section] = /^sections\.([^.]+)/.exec(first) ?? [];
    setQuery({ tab: nameOf(tabOf(first)), ...(section && { section }) });
    setFailed(tabOf(first));
  });
  const done = useRef(() => setFailed(undefined)).current;
  const Content = PANELS[tab];
  return (
    <>
      <TabList selected={tab} onSelect={(next) => setQuery({ tab: nameOf(next) })} />
      <div className={css.panel} role="tabpanel" id={`panel-${tab}`} aria-labelledby={`tab-${tab}`} key={tab}>
        <Suspense fallback={<SkeletonRows />}>
          <Content />
          {failed === tab && <FirstError of={`panel-${tab}`} onDone={done} />}
        </Suspense>
      </div>
    </>
  );
};
