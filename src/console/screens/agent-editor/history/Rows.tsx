import { Button } from '../../../design/Button.tsx';
import { boxLook } from '../../../design/Field.tsx';
import { Ago } from '../../../design/Time.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { ActionChip } from '../../audit-log/ActionChip.tsx';
import { type AuditEvent, actorParts, summaryOf } from '../../audit-log/audit-event.ts';
import css from './History.module.css';
import { texts } from './texts.ts';
import { versionOf } from './versions.ts';

export type RowsProps = {
  events: readonly AuditEvent[];
  chosen: readonly string[];
  /** There is something unsaved, which a restore would drop. */
  locked: boolean;
  onChoose: (id: string, wanted: boolean) => void;
  onView: (event: AuditEvent) => void;
  onRestore: (event: AuditEvent) => void;
};

const Row = ({ event, isChosen, ...props }: RowsProps & { event: AuditEvent; isChosen: boolean }) => {
  const t = useTexts(texts);
  const actor = actorParts(event.actor);
  const version = versionOf(event);
  return (
    <tr data-chosen={isChosen || undefined}>
      <td>
        {version && (
          <input
            type="checkbox"
            className={boxLook}
            aria-label={t('choose', { version: event.id.slice(-8) })}
            checked={isChosen}
            onChange={(change) => props.onChoose(event.id, change.target.checked)}
          />
        )}
      </td>
      <td>
        <Ago at={event.ts} />
      </td>
      <td title={event.actor}>
        <span className={css.mono}>{actor.label || actor.short}</span>
      </td>
      <td>
        <ActionChip action={event.action} />
      </td>
      <td className={css.summary} title={summaryOf(event)}>
        {summaryOf(event) || '—'}
      </td>
      <td className={css.actions}>
        <Button small tone="quiet" onClick={() => props.onView(event)}>
          {t('view')}
        </Button>
        {version && (
          <Button small tone="quiet" disabled={props.locked} onClick={() => props.onRestore(event)}>
            {t('restore')}
          </Button>
        )}
      </td>
    </tr>
  );
};

export const Rows = (props: RowsProps) => {
  const t = useTexts(texts);
  return (
    <div className={css.frame}>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col" aria-label={t('compare')} />
            <th scope="col">{t('column.time')}</th>
            <th scope="col">{t('column.actor')}</th>
            <th scope="col">{t('column.action')}</th>
            <th scope="col">{t('column.summary')}</th>
            <th scope="col" aria-label={t('column.actions')} />
          </tr>
        </thead>
        <tbody>
          {props.events.map((event) => (
            <Row key={event.id} {...props} event={event} isChosen={props.chosen.includes(event.id)} />
          ))}
        </tbody>
      </table>
    </div>
  );
};
