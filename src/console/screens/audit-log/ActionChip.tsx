import { Chip, type Tone } from '../../design/Chip.tsx';
import { Ago, DateTime } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ACTIONS } from './audit-event.ts';
import texts from './texts.json' with { type: 'json' };

const TONES: Record<string, Tone> = {
  create: 'success',
  update: 'info',
  publish: 'info',
  seed_apply: 'none',
  delete: 'error',
  apply_failed: 'error',
  restart: 'warn',
  restore: 'warn',
  tools_changed: 'warn',
};

export const ActionChip = ({ action }: { action: string }) => {
  const t = useTexts(texts);
  const known = ACTIONS.find((one) => one === action);
  return <Chip tone={TONES[action] ?? 'none'}>{known ? t(`action.${known}`) : action}</Chip>;
};

export const EventTime = ({ at }: { at: string }) => (
  <span>
    <DateTime at={at} />{' '}
    <span className="quiet">
      <Ago at={at} />
    </span>
  </span>
);

/** The column with the time of the events of a log. */
export const TIME_CELL = {
  always: true,
  value: ({ ts }: { ts: string }) => Date.parse(ts),
  text: ({ ts }: { ts: string }) => ts,
  cell: ({ ts }: { ts: string }) => <EventTime at={ts} />,
};
