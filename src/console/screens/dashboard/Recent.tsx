import css from '../../activity/Activity.module.css';
import { useRange } from '../../activity/RangeBar.tsx';
import { type Range, sinceAndUntil } from '../../activity/range.ts';
import { list, object, optional, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { ActionChip } from '../audit-log/ActionChip.tsx';
import { actorParts } from '../audit-log/audit-event.ts';
import { hrefOf } from '../audit-log/audited-resource.ts';
import texts from './texts.json' with { type: 'json' };

const Lines = object({
  items: list(object({ id: text, ts: text, actor: text, action: text, resource: text })),
  next_cursor: optional(text),
});

const MOST_SHOWN = 6;

const changesIn = (range: Range): Resource<ReturnType<typeof Lines>> => ({
  path: '/v1/audit-log',
  query: { limit: 50, ...sinceAndUntil(range, Date.now()) },
  guard: Lines,
  off: { statuses: [404, 503], setting: 'SERVICE_AUDIT_LOG_ENABLED' },
  every: 30_000,
  keeps: true,
});

/** Changes of the configuration in the range. */
export const Recent = ({ className }: { className?: string | undefined }) => {
  const t = useTexts(texts);
  const resource = changesIn(useRange().range);
  return (
    <Card
      className={className}
      flush
      title={t('recent.title')}
      actions={<ScreenLink to="/audit-log">{t('recent.all')}</ScreenLink>}
    >
      <Loaded query={useResource(resource)} off={resource.off} plain>
        {({ items }) => (
          <ul className="divided">
            {items.length === 0 && <li className={`item quiet ${css.line}`}>{t('recent.none')}</li>}
            {items.slice(0, MOST_SHOWN).map(({ id, ts, actor, action, resource: place }) => (
              <li key={id} className={`item ${css.line}`}>
                <ActionChip action={action} />
                <span className="grow cut">
                  <ScreenLink to={hrefOf(place)}>{place}</ScreenLink>
                </span>
                <span className="quiet" title={actor}>
                  {actorParts(actor).label || actorParts(actor).short}
                </span>
                <Ago at={ts} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
};
