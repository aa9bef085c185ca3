import { Chip, type Tone } from '../../design/Chip.tsx';
import { Ago, DateTime } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { column } from '../../list/columns.tsx';
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
  tools_changed: 'warn',
};

export const ActionChip = ({ action }: { action: string }) => {
  const t = useTexts(texts);
  const known = ACTIONS.find((one) => one === action);
  return <Chip tone={TONES[action] ?? 'none'}>{known ? t(`action.${known}`) : action}</Chip>;
};

/** The time of an event, and its age. */
export const EventTime = ({ at }: { at: string }) => (
  <span className="row">
    <DateTime at={at} />
    <span className="quiet">
      <Ago at={at} />
    </span>
  </span>
);

/** The time of the events of a log. */
export const eventTimeColumn = <Event extends { ts: string }>(label: string): Column<Event> =>
  column('time', label, ({ ts }) => Date.parse(ts), {
    always: true,
    text: ({ ts }) => ts,
    cell: ({ ts }) => <EventTime at={ts} />,
  });
