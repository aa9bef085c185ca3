import type { ComponentType } from 'react';
import type { IconName } from '../design/Icon.tsx';
import type { shellTexts } from './texts.ts';

export type ShellText = keyof typeof shellTexts.en;

export type Group = 'agents' | 'resources' | 'infrastructure' | 'operate' | 'observe';

/** A place of the console, as `screens/table.ts` lists them. */
export type Screen = {
  /** Such as `/agents` or `/agents/$id`: a name after `$` stands for any segment. */
  path: string;
  /** Missing: the sidebar does not show it. */
  nav?: {
    group: Group;
    icon: IconName;
    /** The key after `g` that leads here. */
    key?: string;
  };
  /** What it is called, in the texts of the shell. */
  label: ShellText;
  /** Of which screen it is a part, for the breadcrumb and the sidebar. */
  under?: string;
  /** Its own chunk. */
  load: () => Promise<{ default: ComponentType }>;
};
