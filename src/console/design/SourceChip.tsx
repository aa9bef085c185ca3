import type { SourceState } from '../data/meta.ts';
import { useTexts } from '../i18n/locale.ts';
import { Chip } from './Chip.tsx';
import designTexts from './texts.json' with { type: 'json' };

const TONES = { user: 'none', customized: 'info', builtin: 'none' } as const;

export const SourceChip = ({ state }: { state: SourceState | undefined }) => {
  const t = useTexts(designTexts);
  return state ? <Chip tone={TONES[state]}>{t(`source.${state}`)}</Chip> : <span>—</span>;
};
