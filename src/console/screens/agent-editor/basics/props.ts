import type { Draft, PanelProps } from '../panel.ts';

export type BasicsProps = PanelProps & {
  isNew: boolean;
  localKind: string;
  onReplace: (draft: Draft) => void;
};
