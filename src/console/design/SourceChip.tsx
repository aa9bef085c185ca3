import type { SourceState } from '../data/meta.ts';
import { useTexts } from '../i18n/locale.ts';
import { shellTexts } from '../shell/texts.ts';
import { Chip } from './Chip.tsx';

const TONES = { user: 'none', customized: 'info', builtin: 'none' } as const;

/** Where an entry comes from. */
export const SourceChip = ({ state }: { state: SourceState | undefined }) => {
  const t = useTexts(shellTexts);
  return state ? <Chip tone={TONES[state]}>{t(`source.${state}`)}</Chip> : <span>—</span>;
};
