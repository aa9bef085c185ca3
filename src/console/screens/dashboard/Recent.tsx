import { list, object, optional, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { ActionChip } from '../audit-log/ActionChip.tsx';
import { actorParts, instantText } from '../audit-log/audit-event.ts';
import { hrefOf } from '../audit-log/places.ts';
import css from './Dashboard.module.css';
import type { Range } from './range.ts';
import { texts } from './texts.ts';

const Line = object({ id: text, ts: text, actor: text, action: text, resource: text });
const Lines = object({ items: list(Line), next_cursor: optional(text) });

const MOST_SHOWN = 8;

/** A look every half minute asks for the same, so that it is one thing for the cache. */
const changesIn = (range: Range): Resource<ReturnType<typeof Lines>> => ({
  path: '/v1/audit-log',
  query: { limit: 50, since: instantText(range, Math.floor(Date.now() / 60_000) * 60_000) },
  guard: Lines,
  off: { statuses: [404, 503], setting: 'SERVICE_AUDIT_LOG_ENABLED' },
  every: 30_000,
});

export const Recent = ({ range }: { range: Range }) => {
  const t = useTexts(texts);
  const resource = changesIn(range);
  const query = useResource(resource);
  return (
    <Card
      className={css.seven}
      flush
      title={t('recent.title')}
      note={t(`range.${range}`)}
      actions={<ScreenLink to={`/audit-log?since=${range}`}>{t('recent.all')}</ScreenLink>}
    >
      <Loaded query={query} off={resource.off} plain>
        {({ items }) =>
          items.length === 0 ? (
            <ul className={css.rows}>
              <li className={css.quiet}>{t('recent.none')}</li>
            </ul>
          ) : (
            <ul className={css.rows}>
              {items.slice(0, MOST_SHOWN).map(({ id, ts, actor, action, resource: place }) => (
                <li key={id}>
                  <span className={css.kind}>
                    <ActionChip action={action} />
                  </span>
                  <span className={`${css.grow} ${css.mono}`}>
                    <ScreenLink to={hrefOf(place)}>{place}</ScreenLink>
                  </span>
                  <span className={css.quiet} title={actor}>
                    {actorParts(actor).label || actorParts(actor).short}
                  </span>
                  <Ago at={ts} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
};
