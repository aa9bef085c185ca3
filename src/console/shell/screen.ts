import type { ComponentType } from 'react';
import type { Needs } from '../data/principal.ts';
import type { IconName } from '../design/Icon.tsx';
import type shellTexts from './texts.json';

export type ShellText = keyof typeof shellTexts;

/** Groups of the sidebar. `home` is at the top and has no heading. */
export type Group = 'home' | 'build' | 'models' | 'evaluate' | 'access' | 'system';

/** A screen of the console, as listed in `screens/table.ts`. */
export type Screen = {
  /** For example `/agents` or `/agents/$id`; `$` marks a parameter that matches any segment. */
  path: string;
  /** Omitted for screens that are not in the sidebar. */
  nav?: {
    group: Group;
    icon: IconName;
    /** The key after `g` that opens the screen. */
    key?: string;
  };
  /** Key of the name in the texts of the shell. */
  label: ShellText;
  /** Path of the parent screen in the breadcrumb and the sidebar. */
  under?: string;
  /** Grants of the routes that the screen reads, one of which is enough; omitted if it needs none. */
  needs?: Needs;
  /** The screen is the whole page, without sidebar and top bar. */
  isBare?: boolean;
  load: () => Promise<{ default: ComponentType }>;
};
