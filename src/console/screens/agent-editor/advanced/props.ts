import type { Editing } from '../editing.ts';
import type { Draft, PanelProps } from '../panel.ts';

export type AdvancedProps = PanelProps & {
  editing: Editing;
  localKind: string;
  onReplace: (draft: Draft) => void;
};
