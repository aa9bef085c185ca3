import { Chip, type Tone } from '../../design/Chip.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ACTIONS } from './audit-event.ts';
import { texts } from './texts.ts';

const TONES: Record<string, Tone> = {
  create: 'success',
  update: 'info',
  publish: 'info',
  seed_apply: 'none',
  delete: 'error',
  apply_failed: 'error',
  restart: 'warn',
  restore: 'warn',
};

export const ActionChip = ({ action }: { action: string }) => {
  const t = useTexts(texts);
  const known = ACTIONS.find((one) => one === action);
  return <Chip tone={TONES[action] ?? 'none'}>{known ? t(`action.${known}`) : action}</Chip>;
};
