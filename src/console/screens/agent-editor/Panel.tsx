import type { ReactNode } from 'react';
import type { JsonObject } from '../../data/guard.ts';
import type { Meta } from '../../data/meta.ts';
import css from './AgentEditor.module.css';
import { Advanced } from './advanced/Advanced.tsx';
import { Basics } from './basics/Basics.tsx';
import type { Editing } from './editing.ts';
import { History } from './history/History.tsx';
import type { Draft, PanelProps } from './panel.ts';
import { Plugins } from './plugins/Plugins.tsx';
import type { Tab } from './problems.ts';
import { Delegates } from './references/Delegates.tsx';
import { Skills } from './references/Skills.tsx';
import { Tools } from './tools/Tools.tsx';

/** What is under the chosen tab: only that is there, so that its labels are the only ones. */

export type PanelPlace = {
  editing: Editing;
  localKind: string;
  onReplace: (draft: Draft) => void;
  /** It was written by another way than the save bar. */
  onReopen: (spec: JsonObject, meta: Meta | undefined) => void;
  panel: PanelProps;
};

const PANELS: Readonly<Record<Tab, (place: PanelPlace) => ReactNode>> = {
  basics: ({ panel, editing, localKind, onReplace }) => (
    <Basics {...panel} isNew={editing.isNew} localKind={localKind} onReplace={onReplace} />
  ),
  tools: ({ panel, editing }) => <Tools {...panel} editing={editing} />,
  plugins: ({ panel }) => <Plugins {...panel} />,
  delegates: ({ panel }) => <Delegates {...panel} />,
  advanced: ({ panel, editing, localKind, onReplace }) => (
    <Advanced {...panel} editing={editing} localKind={localKind} onReplace={onReplace} />
  ),
  history: ({ editing, onReopen }) => <History editing={editing} onReopen={onReopen} />,
  skills: ({ panel }) => <Skills {...panel} />,
};

export const Panel = ({ tab, ...place }: PanelPlace & { tab: Tab }) => (
  <div className={css.panel} role="tabpanel" id={`panel-${tab}`} aria-labelledby={`tab-${tab}`} key={tab}>
    {PANELS[tab](place)}
  </div>
);
